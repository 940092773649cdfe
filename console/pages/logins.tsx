/** Browsers that are signed in as this person, and ending them. */
import type { JSX } from 'preact';
import { ask } from '../app/ask.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Form, useSend } from '../ui/form.tsx';
import { Panel, Text, Time } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

const METHODS = {
  password: 'Password',
  password_totp: 'Password and code',
  password_recovery_code: 'Password and recovery code',
  passkey: 'Passkey',
  sso: 'Single sign-on',
} as const;

export function Logins(): JSX.Element {
  const read = useRead('listLogins', null, undefined, { live: true });
  const others = useSend(
    () => ask('endOtherLogins', null),
    () => readAgain('listLogins'),
  );
  return (
    <Panel
      title="Signed-in browsers"
      note="Each ends by itself when it is not used for two weeks"
      actions={<Form inline sending={others} label="Sign all others out" />}
    >
      <Shown read={read} rows={3}>
        {({ content }) => (
          <Table
            caption="Signed-in browsers"
            rows={content}
            keyOf={({ id }) => id}
            columns={[
              {
                name: 'Browser',
                cell: ({ client, current }) => (
                  <>
                    <Text of={client} /> {current && <span class="faint">· this one</span>}
                  </>
                ),
              },
              { name: 'By', cell: ({ method }) => METHODS[method] },
              { name: 'Address', cell: ({ ip }) => <Text of={ip} />, wideOnly: true },
              { name: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
              { name: 'Used', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
              { name: 'Action', align: 'right', cell: ({ id, current }) => (current ? null : <End id={id} />) },
            ]}
          />
        )}
      </Shown>
    </Panel>
  );
}

function End({ id }: { id: string }): JSX.Element {
  const sending = useSend(
    () => ask('endLogin', null, { params: { id } }),
    () => readAgain('listLogins'),
  );
  return <Form inline sending={sending} label="Sign out" />;
}

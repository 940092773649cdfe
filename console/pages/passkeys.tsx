/** Passkeys of the signed-in user: made, named, removed. Console A24. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor } from '../app/ask.ts';
import { hasPasskeys, madeBy } from '../app/passkey.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Panel, Text, Time } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

function changed(): void {
  readAgain('listPasskeys');
  readAgain('getMe');
}

export function Passkeys(): JSX.Element {
  const read = useRead('listPasskeys', null);
  return (
    <Panel title="Passkeys" note="They sign in without a password, and prove the second factor">
      <Shown read={read} rows={2}>
        {({ content }) =>
          content.length === 0 ? (
            <p class="faint">None yet. A passkey is kept by this device, a phone or a security key.</p>
          ) : (
            <Table
              caption="Passkeys"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Name', cell: ({ name }) => <Text of={name} /> },
                { name: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { name: 'Used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? '–' : <Time at={lastUsedAt} />) },
                { name: 'Action', align: 'right', cell: (one) => <Remove of={one} /> },
              ]}
            />
          )
        }
      </Shown>
      {hasPasskeys() ? <Add /> : <p class="hint">This browser has no passkeys on this page.</p>}
    </Panel>
  );
}

function Add(): JSX.Element {
  const [wantsPassword, setWantsPassword] = useState(false);
  const [said, setSaid] = useState('');
  const add = useSend<ReplyOf<'addPasskey'>>(
    async ({ name = '', password }) => {
      setSaid('');
      const body = password === undefined ? {} : { password };
      const begun = wantsPassword
        ? await ask('beginPasskey', null, { body })
        : await askWithFactor('A passkey signs in as you.', 'beginPasskey', null, () => ({ body }), {
            unless: (refusal) => (refusal.details['accepts'] as readonly string[] | undefined)?.[0] === 'password',
          });
      if (begun === null) return null;
      const { outcome } = begun;
      if (isRefusal(outcome)) {
        const isFirst = !wantsPassword && outcome.details['reason'] === 'not_fresh';
        if (!isFirst) return { ...begun, outcome };
        setWantsPassword(true);
        return null;
      }
      const made = await madeBy(outcome);
      if (made === null) {
        setSaid('The browser made no passkey.');
        return null;
      }
      return ask('addPasskey', null, { body: { name: name.trim(), passkey: made } });
    },
    () => {
      setWantsPassword(false);
      setSaid('The passkey is added.');
      changed();
    },
  );
  return (
    <>
      <Form sending={add} label="Add a passkey">
        <Field label="Name of the passkey" name="name" required maxLength={60} placeholder="This laptop" />
        {wantsPassword && (
          <Field label="Your password" name="password" type="password" autocomplete="current-password" required />
        )}
      </Form>
      <p class="said" role="status">
        {said}
      </p>
    </>
  );
}

function Remove({ of: { id, name } }: { of: ReplyOf<'addPasskey'> }): JSX.Element {
  const remove = useSend(
    () => askWithFactor(`The passkey “${name}” signs in no more.`, 'removePasskey', null, () => ({ params: { id } })),
    changed,
  );
  return <Form inline sending={remove} label="Remove" />;
}

/** People of the organization. */
import type { JSX } from 'preact';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { login } from '../app/session.ts';
import { Head, Panel, Status, Text } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

const MEANS = {
  owner: 'Everything, with people, keys and the plan',
  editor: 'Addresses, payments, webhooks',
  viewer: 'Reads only',
} as const;

export function Members({ scope }: PageProps): JSX.Element {
  const read = useRead('listMembers', scope);
  return (
    <>
      <Head title="Members" note="Who signs in for this organization, in live and in sandbox." />
      <Panel>
        <Shown read={read}>
          {({ content }) => (
            <Table
              caption="Members"
              rows={content}
              keyOf={({ userId }) => userId}
              columns={[
                {
                  name: 'Email',
                  cell: ({ email, userId }) => (
                    <>
                      <Text of={email} /> {userId === login.value?.userId && <span class="faint">· you</span>}
                    </>
                  ),
                },
                { name: 'Role', cell: ({ role }) => words(role) },
                { name: 'May', cell: ({ role }) => <span class="faint">{MEANS[role]}</span>, wideOnly: true },
                {
                  name: 'Second factor',
                  cell: ({ totpConfirmed }) =>
                    totpConfirmed ? <Status of="active" label="Set up" /> : <Status of="stale" label="Missing" />,
                },
              ]}
            />
          )}
        </Shown>
      </Panel>
    </>
  );
}

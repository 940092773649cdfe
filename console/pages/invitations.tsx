/** Invitations of the organization: who is asked, and what became of it. Console A30. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OrgRole } from '../../protocol/slugs.ts';
import { ask, askWithFactor, type Scope } from '../app/ask.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

export const ROLE_CHOICES = [
  ['viewer', 'Viewer: reads only'],
  ['editor', 'Editor: addresses, payments, webhooks'],
  ['owner', 'Owner: everything'],
] as const;

const SHOWN_AS = {
  pending: 'pending',
  accepted: 'active',
  revoked: 'failed',
  expired: 'stale',
  replaced: 'stale',
} as const;

export function Invitations({ scope }: { scope: Scope }): JSX.Element {
  const read = useRead('listInvitations', scope);
  const [said, setSaid] = useState<string | null>(null);
  const invite = useSend(
    ({ email = '', role = 'viewer' }) =>
      askWithFactor('An owner may do everything here.', 'createInvitation', scope, () => ({
        body: { email: email.trim(), role: role as OrgRole },
      })),
    ({ email }) => {
      setSaid(`A letter to ${email} is on its way.`);
      readAgain('listInvitations');
    },
  );
  return (
    <Panel title="Invitations" note="By letter, good for 7 days">
      <Form sending={invite} label="Invite" inline>
        <Field label="Email" name="email" type="email" required maxLength={254} />
        <Choice label="Role" name="role" options={ROLE_CHOICES} />
      </Form>
      <p class="said" role="status">
        {said}
      </p>
      <Shown read={read} rows={2}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="Nobody is invited">Whom you invite appears here until they accept.</Empty>
          ) : (
            <Table
              caption="Invitations"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Email', cell: ({ email }) => <Text of={email} /> },
                { name: 'Role', cell: ({ role }) => words(role) },
                { name: 'Status', cell: ({ status }) => <Status of={SHOWN_AS[status]} label={words(status)} /> },
                { name: 'Good until', cell: ({ expiresAt }) => <Time at={expiresAt} />, wideOnly: true },
                {
                  name: 'Actions',
                  cell: ({ id, status }) =>
                    status === 'pending' || status === 'expired' ? <Decide scope={scope} id={id} /> : null,
                },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

function Decide({ scope, id }: { scope: Scope; id: string }): JSX.Element {
  const again = () => readAgain('listInvitations');
  const resend = useSend(() => ask('resendInvitation', scope, { params: { id } }), again);
  const revoke = useSend(() => ask('revokeInvitation', scope, { params: { id } }), again);
  return (
    <>
      <Form sending={resend} label="Send again" inline />
      <Form sending={revoke} label="Revoke" inline danger />
    </>
  );
}

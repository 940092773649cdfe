/** People of the organization. */
import type { JSX } from 'preact';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { place } from '../app/location.ts';
import { login } from '../app/session.ts';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import type { OrgRole } from '../../protocol/slugs.ts';
import { ask, askWithFactor, may, type Scope } from '../app/ask.ts';
import { readAgain } from '../app/read.ts';
import { Choice, Form, useSend } from '../ui/form.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Invitations, ROLE_CHOICES } from './invitations.tsx';
import { Head, Panel, Status, Text } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table, TextFilter } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import type { ReplyOf } from '../../protocol/routes.ts';

const MEANS = {
  owner: 'Everything, with people, keys and the plan',
  editor: 'Addresses, payments, webhooks',
  viewer: 'Reads only',
} as const;

export function Members({ scope }: PageProps): JSX.Element {
  const { email } = place.value.query;
  const read = useRead('listMembers', scope, email === undefined ? {} : { query: { email } });
  return (
    <>
      <Head title="Members" note="Who signs in for this organization, in live and in sandbox." />
      <div class="filters">
        <TextFilter name="email" label="Email" />
      </div>
      <Panel>
        <Shown read={read}>
          {({ content }) =>
            content.length === 0 ? (
              <Empty title="No member has this in the email">Clear the filter to see all.</Empty>
            ) : (
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
                  {
                    name: 'Actions',
                    cell: (member) =>
                      may('owner') || member.userId === login.value?.userId ? (
                        <Change scope={scope} member={member} />
                      ) : null,
                  },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
      {may('owner') && <Invitations scope={scope} />}
    </>
  );
}

type Member = ReplyOf<'listMembers'>['content'][number];

/** Another role, removal, or leaving. The organization never loses its last owner: the server says so. */
function Change({ scope, member }: { scope: Scope; member: Member }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { userId, email, role } = member;
  const isSelf = userId === login.value?.userId;
  const [keys, setKeys] = useState<number | null>(null);
  const change = useSend(
    ({ role: next = role }) =>
      askWithFactor('An owner may do everything here.', 'changeMember', scope, () => ({
        params: { userId },
        body: { role: next as OrgRole },
      })),
    () => {
      setOpen(false);
      readAgain('listMembers');
    },
  );
  const remove = useSend(
    async () => {
      const answer = await ask('removeMember', scope, { params: { userId } });
      if (!isRefusal(answer.outcome) && isSelf) window.location.assign('/console/');
      return answer;
    },
    ({ apiKeysMinted }) => {
      if (apiKeysMinted > 0) return setKeys(apiKeysMinted);
      setOpen(false);
      readAgain('listMembers');
    },
  );
  const close = () => {
    setOpen(false);
    if (keys !== null) readAgain('listMembers');
  };
  return (
    <>
      <button type="button" class="button small" onClick={() => setOpen(true)}>
        {isSelf && !may('owner') ? 'Leave' : 'Change'}
      </button>
      {isOpen && (
        <Dialog title={isSelf ? 'You, as a member' : 'Member'} onClose={close}>
          <p>
            <Text of={email} />
          </p>
          {keys !== null ? (
            <p class="notice warn" role="status">
              They are removed. {keys} API keys that they minted go on: look at them under API keys, and revoke those
              that they may have kept.
            </p>
          ) : (
            <>
              {may('owner') && (
                <Form sending={change} label="Give this role">
                  <Choice label="Role" name="role" options={ROLE_CHOICES} value={role} />
                </Form>
              )}
              <Form
                sending={remove}
                label={isSelf ? 'Leave the organization' : 'Remove from the organization'}
                danger
              />
            </>
          )}
        </Dialog>
      )}
    </>
  );
}

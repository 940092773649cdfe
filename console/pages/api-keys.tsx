/** API keys: made with a second factor, shown once, revoked at once. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { EdgeKeys } from './edge-keys.tsx';

const DAY_MS = 86_400_000;
const ROLES = [
  ['editor', 'Read and write'],
  ['viewer', 'Read'],
] as const;
const ENDS = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

type Key = ReplyOf<'listApiKeys'>['content'][number];

export function ApiKeys({ scope }: PageProps): JSX.Element {
  const read = useRead('listApiKeys', scope, undefined, { live: true });
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const [revoked, setRevoked] = useState<Key | null>(null);
  const make = may('owner') && (
    <button type="button" class="button primary" onClick={() => setMaking(true)}>
      Make a key
    </button>
  );
  return (
    <>
      <Head
        title="API keys"
        note={`With one of them an edge or a program acts for this account (${scope.environment}).`}
        actions={make}
      />
      <Panel>
        <Shown read={read}>
          {({ content }) => {
            const keys = content.filter(({ environment }) => environment === scope.environment);
            return keys.length === 0 ? (
              <Empty title="No key yet" action={make}>
                {may('owner') ? 'The first one goes into the command that starts your edge.' : 'An owner makes them.'}
              </Empty>
            ) : (
              <Table
                caption="API keys"
                rows={keys}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'Label', cell: ({ label }) => <Text of={label} /> },
                  { name: 'Begins', cell: ({ prefix }) => <code>{prefix}</code> },
                  {
                    name: 'Status',
                    cell: ({ status }) => <Status of={status === 'expired' ? 'stale' : status} label={words(status)} />,
                  },
                  { name: 'May', cell: ({ role }) => (role === 'viewer' ? 'Read' : 'Read and write') },
                  { name: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" /> },
                  { name: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} none="never" />, wideOnly: true },
                  { name: 'Made', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
                  { name: 'Id', cell: ({ id }) => <Code of={id} />, wideOnly: true },
                  {
                    name: 'Action',
                    align: 'right',
                    cell: (key) =>
                      key.status !== 'revoked' && may('owner') ? (
                        <button type="button" class="button small" onClick={() => setRevoked(key)}>
                          Revoke
                        </button>
                      ) : null,
                  },
                ]}
              />
            );
          }}
        </Shown>
      </Panel>
      <EdgeKeys scope={scope} />
      {isMaking && <Make scope={scope} close={() => setMaking(false)} onKey={setMade} />}
      {revoked !== null && <Revoke scope={scope} apiKey={revoked} close={() => setRevoked(null)} />}
      {made !== null && (
        <Secret
          title={`New API key (${scope.environment})`}
          what="Put it where your edge or program reads it."
          text={made}
          fileName={`flock-${scope.environment}-key.txt`}
          onDone={() => setMade(null)}
        />
      )}
    </>
  );
}

function Make({
  scope,
  close,
  onKey,
}: Pick<PageProps, 'scope'> & { close: () => void; onKey: (key: string) => void }): JSX.Element {
  const sending = useSend(
    ({ label = '', role = 'editor', days = '' }, idempotencyKey) =>
      askWithFactor('An API key acts for this account.', 'mintApiKey', scope, () => ({
        idempotencyKey,
        body: {
          label,
          environment: scope.environment,
          role: role as 'editor' | 'viewer',
          ...(days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
        },
      })),
    ({ key }) => {
      readAgain('listApiKeys');
      close();
      onKey(key);
    },
  );
  return (
    <Dialog title={`Make an API key (${scope.environment})`} onClose={close}>
      <Form sending={sending} label="Make" onCancel={close}>
        <Field
          label="Label"
          name="label"
          required
          maxLength={120}
          autofocus
          hint="What uses it, as people will look for it later."
        />
        <Choice label="May" name="role" options={ROLES} hint="An edge needs one that writes." />
        <Choice label="Ends" name="days" options={ENDS} />
      </Form>
    </Dialog>
  );
}

function Revoke({ scope, apiKey, close }: Pick<PageProps, 'scope'> & { apiKey: Key; close: () => void }): JSX.Element {
  const sending = useSend(
    (_values, idempotencyKey) => ask('revokeApiKey', scope, { idempotencyKey, params: { id: apiKey.id } }),
    () => {
      readAgain('listApiKeys');
      close();
    },
  );
  return (
    <Dialog title={`Revoke the key (${scope.environment})`} onClose={close}>
      <p>
        <Text of={apiKey.label} /> <code>{apiKey.prefix}</code> is refused from now on, and streams of edges that use it
        end. This cannot be taken back.
      </p>
      <Form sending={sending} label="Revoke" danger onCancel={close} />
    </Dialog>
  );
}

/** The wipe of an environment: what it deletes and keeps, an owner schedules it, and any owner takes it back. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor, may, type Scope } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

type Wipe = NonNullable<ReplyOf<'getWipe'>['wipe']>;
const again = (): void => readAgain('getWipe');

export function WipePage({ scope }: PageProps): JSX.Element {
  const read = useRead('getWipe', scope, undefined, { live: true });
  return (
    <>
      <Head
        title={`Wipe (${scope.environment})`}
        note="Deletes your public keys and what names your customers in this environment. It cannot be undone."
      />
      <Panel title="What it does" note="72 hours after an owner asks for it; any owner can take it back until then">
        <dl class="choices">
          <div>
            <dt>Deleted</dt>
            <dd>
              Extended public keys, pools, the pinned identity, API and local keys, webhooks with their secrets, edge
              sessions, instructions, labels, user references and tags. The edge is turned away.
            </dd>
          </div>
          <div>
            <dt>Kept</dt>
            <dd>
              Ledger, deposits, transactions, events, statements and the audit log. No address is ever issued again to
              somebody else.
            </dd>
          </div>
          <div>
            <dt>Untouched</dt>
            <dd>
              Your recovery phrase. It is at your edge alone, and what lies on the addresses stays there: only the
              phrase moves it. Deposits that come later are not seen.
            </dd>
          </div>
        </dl>
      </Panel>
      <Shown read={read} rows={4}>
        {({ wipe }) => (
          <>
            {wipe !== null && <State scope={scope} wipe={wipe} />}
            {(wipe === null || wipe.status === 'cancelled' || wipe.status === 'done') && <Schedule scope={scope} />}
          </>
        )}
      </Shown>
    </>
  );
}

const SHOWN = {
  scheduled: ['warn', 'Scheduled'],
  closing: ['warn', 'Waits for withdrawals and imports to end'],
  running: ['held', 'Deletes now'],
  done: ['expired', 'Done'],
  cancelled: ['disabled', 'Taken back'],
} as const;

function State({ scope, wipe }: { scope: Scope; wipe: Wipe }): JSX.Element {
  const cancel = useSend(() => ask('cancelWipe', scope), again);
  const [of, label] = SHOWN[wipe.status];
  return (
    <Panel
      title="The newest wipe"
      actions={
        (wipe.status === 'scheduled' || wipe.status === 'closing') &&
        may('owner') && <Form sending={cancel} label="Take it back" inline />
      }
    >
      <Facts
        rows={[
          ['State', <Status of={of} label={label} />],
          ['Begins', <Instant at={wipe.scheduledFor} />],
          ['Asked', <Instant at={wipe.askedAt} />],
          ['By', <Code of={wipe.askedBy} whole />],
          ...(wipe.beganAt === null ? [] : [['Began', <Instant at={wipe.beganAt} />] as const]),
          ...(wipe.endedAt === null ? [] : [['Ended', <Instant at={wipe.endedAt} />] as const]),
          ...(wipe.beganAt === null ? [] : [['Addresses watched no more', String(wipe.addresses)] as const]),
        ]}
      />
      <h3>What lies on the addresses</h3>
      <Holdings wipe={wipe} />
    </Panel>
  );
}

function Holdings({ wipe: { holdings } }: { wipe: Wipe }): JSX.Element {
  if (holdings === null) return <p class="faint">It is being counted.</p>;
  if (holdings.length === 0) return <p>By the ledger, nothing.</p>;
  return (
    <Table
      caption="By the ledger when it was counted, in smallest units"
      rows={holdings}
      keyOf={({ chain, token }) => `${chain} ${token ?? ''}`}
      columns={[
        { name: 'Chain', cell: ({ chain }) => chain },
        { name: 'Asset', cell: ({ token }) => (token === null ? 'native coin' : <Code of={token} />) },
        { name: 'Amount', cell: ({ amount }) => amount },
      ]}
    />
  );
}

function Schedule({ scope }: { scope: Scope }): JSX.Element {
  const [open, setOpen] = useState(false);
  const sending = useSend(
    ({ confirm = '' }, idempotencyKey) =>
      askWithFactor(
        `Schedules the wipe of ${scope.organizationId} (${scope.environment}).`,
        'scheduleWipe',
        scope,
        (totp) => ({
          idempotencyKey,
          body: { environment: scope.environment, confirm, ...(totp === undefined ? {} : { totp }) },
        }),
        { inBody: true },
      ),
    () => {
      again();
      setOpen(false);
    },
  );
  if (!may('owner')) return <Panel title="Schedule">An owner can schedule it.</Panel>;
  return (
    <Panel
      title="Schedule"
      note="Refused while withdrawals, imports or sweeps are under way, or a rotation waits"
      actions={
        <button type="button" class="button danger" onClick={() => setOpen(true)}>
          Wipe this environment
        </button>
      }
    >
      {open && (
        <Dialog title={`Wipe the ${scope.environment} environment`} onClose={() => setOpen(false)}>
          <p>
            In 72 hours the <strong>{scope.environment}</strong> environment is wiped. Keep the recovery phrase: without
            it, nobody moves what lies on the addresses. Type the organization&apos;s name to go on.
          </p>
          <Form sending={sending} label="Schedule the wipe" danger onCancel={() => setOpen(false)}>
            <Field label="Name of the organization" name="confirm" required autofocus autocomplete="off" />
          </Form>
        </Dialog>
      )}
    </Panel>
  );
}

/** Reading by staff: an owner allows it for some days, sees who read and why, and ends it. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may, type Scope } from '../app/ask.ts';
import { nowMs } from '../app/live.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Choice, Form, useSend } from '../ui/form.tsx';
import { Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

type Access = ReplyOf<'getSupportAccess'>;
const DAYS = [1, 3, 7] as const;
const DAY_MS = 86_400_000;

export function SupportAccess({ scope }: PageProps): JSX.Element {
  const read = useRead('getSupportAccess', scope, undefined, { live: true });
  return (
    <>
      <Head title="Support access" note="Staff of the operator reads nothing here unless an owner allows it." />
      <Shown read={read} rows={4}>
        {(access) => (
          <>
            <Consent scope={scope} access={access} />
            <Panel title="Sessions" note="Each lasts an hour at most, reads as a viewer, and writes nothing">
              <Sessions scope={scope} access={access} />
            </Panel>
          </>
        )}
      </Shown>
    </>
  );
}

const again = (): void => readAgain('getSupportAccess');

function Consent({ scope, access: { until } }: { scope: Scope; access: Access }): JSX.Element {
  const allow = useSend(({ days = '1' }) => {
    // A little less than whole days: the clock of this browser may be ahead.
    const untilMs = Date.now() + Number(days) * DAY_MS - 60_000;
    return ask('setSupportAccess', scope, { body: { until: new Date(untilMs).toISOString() } });
  }, again);
  const end = useSend(() => ask('setSupportAccess', scope, { body: { until: null } }), again);
  return (
    <Panel
      title="Consent"
      actions={until !== null && may('owner') && <Form sending={end} label="End it now" danger inline />}
    >
      {until === null ? (
        <p>
          <Status of="disabled" label="Not allowed" /> Nobody of the staff reads this organization.
        </p>
      ) : (
        <p>
          <Status of="warn" tone="warn" label="Allowed" /> Staff may read until <Instant at={until} />. You are mailed
          when somebody begins.
        </p>
      )}
      {may('owner') && (
        <>
          <Form sending={allow} label={until === null ? 'Allow' : 'Allow anew'}>
            <Choice
              label="For"
              name="days"
              options={DAYS.map((days) => [String(days), days === 1 ? '1 day' : `${days} days`] as const)}
              value="1"
            />
          </Form>
        </>
      )}
    </Panel>
  );
}

function Sessions({ scope, access: { sessions } }: { scope: Scope; access: Access }): JSX.Element {
  if (sessions.length === 0) return <Empty title="None">Nobody has read this organization.</Empty>;
  return (
    <Table
      caption="Support sessions"
      rows={sessions}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Who', cell: ({ by }) => <Text of={by} /> },
        { name: 'Reads', cell: ({ environment }) => words(environment) },
        {
          name: 'Why',
          cell: ({ reason }) => (
            <span class="break">
              <Text of={reason} />
            </span>
          ),
        },
        { name: 'Began', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: 'Ends', cell: ({ endsAt, endedAt }) => <Time at={endedAt ?? endsAt} /> },
        {
          name: 'State',
          cell: ({ id, endsAt, endedAt }) =>
            endedAt === null && Date.parse(endsAt) > nowMs.value ? (
              <Open scope={scope} id={id} />
            ) : (
              <Status of="expired" label="Over" />
            ),
        },
      ]}
    />
  );
}

function Open({ scope, id }: { scope: Scope; id: string }): JSX.Element {
  const sending = useSend(() => ask('endSupportSession', scope, { params: { id } }), again);
  return may('owner') ? <Form inline sending={sending} label="End" danger /> : <Status of="live" label="Reads now" />;
}

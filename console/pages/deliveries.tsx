/** What was posted, every attempt of it, and posting it again. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { DELIVERY_STATUSES, EVENTS, type EventName } from '../../protocol/slugs.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Pager, Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { queryOf } from './addresses.tsx';

type Delivery = ReplyOf<'listDeliveries'>['content'][number];
const FILTERS = ['status', 'event', 'webhookId', 'after'] as const;

export function Deliveries({ scope }: PageProps): JSX.Element {
  const read = useRead('listDeliveries', scope, { query: queryOf(FILTERS) as never }, { live: true });
  const [isReplaying, setReplaying] = useState(false);
  const isFiltered = FILTERS.some((name) => place.value.query[name] !== undefined);
  return (
    <>
      <Head
        title="Deliveries"
        note="Events of the last seven days, one row for each endpoint that gets them."
        actions={
          may('editor') && (
            <button type="button" class="button" onClick={() => setReplaying(true)}>
              Replay a time range
            </button>
          )
        }
      />
      <div class="filters">
        <Filter name="status" label="Status" options={DELIVERY_STATUSES.map((one) => [one, words(one)])} />
        <Filter name="event" label="Event" options={EVENTS.map((one) => [one, words(one)])} />
      </div>
      <Panel>
        <Shown read={read} rows={10}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty title={isFiltered ? 'No delivery matches these filters' : 'Nothing was delivered yet'}>
                {!isFiltered && 'A delivery is made for each event that one of your endpoints subscribes to.'}
              </Empty>
            ) : (
              <>
                <DeliveryTable scope={scope} rows={page.content} />
                <Pager of={page} what="deliveries" />
              </>
            )
          }
        </Shown>
      </Panel>
      {isReplaying && <ReplayRange scope={scope} close={() => setReplaying(false)} />}
    </>
  );
}

export function DeadLetters({ scope }: PageProps): JSX.Element {
  const read = useRead('listDeadLetters', scope, { query: queryOf(['after']) as never }, { live: true });
  return (
    <>
      <Head title="Dead letters" note="Deliveries that used up every attempt. Mend the endpoint, then replay them." />
      <Panel>
        <Shown read={read}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty title="No dead letters">
                Every event of the last seven days arrived, or is still being tried.
              </Empty>
            ) : (
              <>
                <DeliveryTable scope={scope} rows={page.content} />
                <Pager of={page} what="dead letters" />
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

export function DeliveryTable({ scope, rows }: Pick<PageProps, 'scope'> & { rows: readonly Delivery[] }): JSX.Element {
  const [opened, setOpened] = useState<Delivery | null>(null);
  // Newer deliveries may have pushed its row off the page meanwhile.
  const shown = rows.find(({ id }) => id === opened?.id) ?? opened;
  return (
    <>
      <Table
        caption="Deliveries"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { name: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            name: 'Event',
            cell: (row) => (
              <button type="button" class="link" onClick={() => setOpened(row)}>
                {words(row.event)}
                {row.replay > 0 && ` · replay ${row.replay}`}
              </button>
            ),
          },
          {
            name: 'Status',
            cell: ({ status, heldReason }) => (
              <Status of={status} label={heldReason === null ? undefined : words(heldReason)} />
            ),
          },
          { name: 'Endpoint', cell: ({ url }) => <Text of={url} /> },
          { name: 'Attempts', align: 'right', cell: ({ attempts }) => attempts.length },
          { name: 'Last answer', cell: ({ attempts }) => <Answer of={attempts.at(-1)} />, wideOnly: true },
          { name: 'Next', cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} />, wideOnly: true },
        ]}
      />
      {shown !== null && <DeliveryDialog scope={scope} delivery={shown} close={() => setOpened(null)} />}
    </>
  );
}

function Answer({ of }: { of: Delivery['attempts'][number] | undefined }): JSX.Element {
  if (of === undefined) return <span class="faint">–</span>;
  return (
    <span class={of.error === null && of.statusCode !== null && of.statusCode < 300 ? undefined : 'bad-text'}>
      {of.statusCode ?? of.error ?? '–'} <span class="faint">{of.durationMs} ms</span>
    </span>
  );
}

function DeliveryDialog({
  scope,
  delivery,
  close,
}: Pick<PageProps, 'scope'> & { delivery: Delivery; close: () => void }): JSX.Element {
  const sending = useSend(
    (_values, idempotencyKey) => ask('replayDelivery', scope, { idempotencyKey, params: { id: delivery.id } }),
    () => {
      readAgain('listDeliveries', 'listDeadLetters', 'listWebhookDeliveries');
      close();
    },
  );
  return (
    <Dialog title={words(delivery.event)} onClose={close} wide>
      <Facts
        rows={[
          ['Status', <Status of={delivery.status} />],
          [
            'Endpoint',
            <a href={hrefOf(scope, `/webhooks/${delivery.webhookId}`)}>
              <Text of={delivery.url} />
            </a>,
          ],
          ['Event', <Code of={delivery.eventId} whole href={hrefOf(scope, `/events/${delivery.eventId}`)} />],
          ['Delivery', <Code of={delivery.id} whole />],
          ['Created', <Instant at={delivery.createdAt} />],
          ['Next attempt', <Instant at={delivery.nextAttemptAt} />],
        ]}
      />
      <h3>Attempts</h3>
      {delivery.attempts.length === 0 ? (
        <p class="faint">None yet. Without a leader edge nothing is attempted, and nothing is counted.</p>
      ) : (
        <Table
          caption="Attempts"
          rows={delivery.attempts}
          keyOf={({ attempt }) => String(attempt)}
          columns={[
            { name: 'No.', cell: ({ attempt }) => attempt },
            { name: 'At', cell: ({ at }) => <Instant at={at} /> },
            { name: 'Answer', cell: ({ statusCode }) => statusCode ?? '–' },
            { name: 'Took', align: 'right', cell: ({ durationMs }) => `${durationMs} ms` },
            { name: 'Error', cell: ({ error }) => <Text of={error} /> },
          ]}
        />
      )}
      {may('editor') && <Form sending={sending} label="Deliver once more" onCancel={close} />}
    </Dialog>
  );
}

const DAY_MS = 86_400_000;
const inputTime = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
const instantOf = (text: string): string => `${text}:00Z`;

/** First the count, then the deliveries. Console 5.4. */
function ReplayRange({ scope, close }: Pick<PageProps, 'scope'> & { close: () => void }): JSX.Element {
  const [counted, setCounted] = useState<{ count: number; body: ReplayBody } | null>(null);
  const [now] = useState(Date.now());
  const count = useSend(
    async (values) => {
      const body: ReplayBody = {
        from: instantOf(values['from'] ?? ''),
        to: instantOf(values['to'] ?? ''),
        ...(values['event'] ? { event: values['event'] as EventName } : {}),
      };
      const answer = await ask('replayDeliveries', scope, { body: { ...body, dryRun: true } });
      if ('count' in answer.outcome) setCounted({ count: answer.outcome.count as number, body });
      return answer;
    },
    () => undefined,
  );
  const replay = useSend(
    (_values, idempotencyKey) =>
      ask('replayDeliveries', scope, { idempotencyKey, body: { ...counted!.body, dryRun: false } }),
    () => {
      readAgain('listDeliveries');
      close();
    },
  );
  return (
    <Dialog title={`Replay a time range (${scope.environment})`} onClose={close}>
      {counted === null ? (
        <Form sending={count} label="Count" onCancel={close}>
          <Field label="From (UTC)" name="from" type="datetime-local" required value={inputTime(now - DAY_MS)} />
          <Field label="To (UTC)" name="to" type="datetime-local" required value={inputTime(now + 60_000)} />
          <Choice
            label="Event"
            name="event"
            options={[['', 'All events'], ...EVENTS.map((one) => [one, words(one)] as const)]}
            value=""
          />
        </Form>
      ) : (
        <>
          <p>
            {counted.count === 0
              ? 'No delivery lies in this range.'
              : `${counted.count} ${counted.count === 1 ? 'delivery lies' : 'deliveries lie'} in this range. At most 1,000 are replayed at once, oldest first.`}
          </p>
          {counted.count > 0 && (
            <Form sending={replay} label={`Replay ${Math.min(counted.count, 1_000)}`} onCancel={close} />
          )}
        </>
      )}
    </Dialog>
  );
}
interface ReplayBody {
  from: string;
  to: string;
  event?: EventName;
}

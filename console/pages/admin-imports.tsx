/** What administrators decide for imports: rows that two accounts claim, and scans that are to go far. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { REVIEW_STATES } from '../../protocol/migration/words.ts';
import { askWithFactor } from '../app/ask.ts';
import { place } from '../app/location.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Panel, Status, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Steps, Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

type Review = ReplyOf<'listImportConflicts'>['content'][number];

export function ImportConflicts(): JSX.Element {
  const { state, after } = place.value.query;
  const read = useRead('listImportConflicts', null, {
    query: {
      ...(state === undefined ? {} : { state: state as Review['state'] }),
      ...(after === undefined ? {} : { after }),
    },
  });
  const [shown, setShown] = useState<string | null>(null);
  return (
    <>
      <Head title="Import conflicts" note="Imports with addresses that another account claims. Each waits for you." />
      <div class="filters">
        <Filter name="state" label="State" options={REVIEW_STATES.map((one) => [one, words(one)])} />
      </div>
      <Panel>
        <Shown read={read}>
          {({ content, next }) =>
            content.length === 0 ? (
              <Empty title={state === undefined ? 'No import waits for a decision' : 'None in this state'}>
                After three conflicts of one organization an import comes here.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Imports with conflicts"
                  rows={content}
                  keyOf={({ reviewId }) => reviewId}
                  columns={[
                    {
                      name: 'Review',
                      cell: ({ reviewId }) => (
                        <button type="button" class="link" onClick={() => setShown(reviewId)}>
                          {reviewId.slice(0, 12)}…
                        </button>
                      ),
                    },
                    { name: 'State', cell: ({ state: now }) => <Status of={now} tone={TONES[now]} /> },
                    { name: 'Account', cell: ({ accountId }) => <Code of={accountId} /> },
                    { name: 'Claimed rows', align: 'right', cell: ({ conflicts }) => conflicts },
                    { name: 'Other rows', align: 'right', cell: ({ adoptable }) => adoptable },
                    { name: 'Opened', cell: ({ openedAt }) => <Time at={openedAt} /> },
                    { name: 'Decided', cell: ({ decidedAt }) => <Time at={decidedAt} />, wideOnly: true },
                  ]}
                />
                <Steps next={next} what="import conflicts">
                  {content.length} shown
                </Steps>
              </>
            )
          }
        </Shown>
      </Panel>
      {shown !== null && <Conflict id={shown} close={() => setShown(null)} />}
    </>
  );
}

const TONES = { open: 'warn', dropped: 'good', refused: 'bad' } as const;

/** Both sides of a conflict, and the decision. */
function Conflict({ id, close }: { id: string; close: () => void }): JSX.Element {
  const [after, setAfter] = useState<string | undefined>(undefined);
  const read = useRead('getImportConflict', null, {
    params: { reviewId: id },
    query: after === undefined ? {} : { after },
  });
  const sending = useSend(
    ({ decision = 'drop_rows' }) =>
      askWithFactor('You decide on the import of a customer.', 'resolveImportConflict', null, () => ({
        params: { reviewId: id },
        body: { decision: decision as 'drop_rows' | 'refuse' },
      })),
    () => {
      readAgain('listImportConflicts');
      close();
    },
  );
  return (
    <Dialog title="Import conflict" onClose={close} wide>
      <Shown read={read} rows={4}>
        {({ claims, next, ...review }) => (
          <>
            <Facts
              rows={[
                ['State', <Status of={review.state} tone={TONES[review.state]} />],
                ['Account', <Code of={review.accountId} whole />],
                ['Project', <Code of={review.projectId} />],
                ['Batch', <Code of={review.batchId} />],
                ['Rows', `${review.conflicts} claimed by another account, ${review.adoptable} others`],
                ...(review.decidedBy === null ? [] : [['Decided by', <Code of={review.decidedBy} />] as const]),
              ]}
            />
            <Table
              caption="Rows that are claimed"
              rows={claims}
              keyOf={({ line, chain, address }) => `${line} ${chain} ${address}`}
              columns={[
                { name: 'Line', align: 'right', cell: ({ line }) => line },
                { name: 'Chain', cell: ({ chain }) => chain },
                { name: 'Address', cell: ({ address }) => <Code of={address} /> },
                {
                  name: 'Claimed by',
                  cell: ({ claimedBy }) => (claimedBy === null ? 'A simulated claim' : <Code of={claimedBy} />),
                },
                { name: 'Since', cell: ({ claimedAt }) => <Time at={claimedAt} /> },
                { name: 'Came by', cell: ({ adoptedBy }) => (adoptedBy === null ? 'Issued' : <Code of={adoptedBy} />) },
                { name: 'Used', cell: ({ isUsed }) => (isUsed ? 'Has received' : 'Not yet') },
              ]}
            />
            {next !== null && (
              <button type="button" class="button small" onClick={() => setAfter(next)}>
                Further rows
              </button>
            )}
            {review.state === 'open' && (
              <Form sending={sending} label="Decide" danger onCancel={close}>
                <Choice
                  label="Decision"
                  name="decision"
                  options={[
                    ['drop_rows', 'The import goes on without the claimed rows'],
                    ['refuse', 'The import is refused for good'],
                  ]}
                  value="drop_rows"
                />
              </Form>
            )}
          </>
        )}
      </Shown>
    </Dialog>
  );
}

export function ScanLimits(): JSX.Element {
  const { after } = place.value.query;
  const read = useRead('listScanLimits', null, { query: after === undefined ? {} : { after } });
  return (
    <>
      <Head title="Scan limits" note="Scans that were asked to go further than goes without staff, the oldest first." />
      <Panel>
        <Shown read={read}>
          {({ content, next }) =>
            content.length === 0 ? (
              <Empty title="No scan waits for a decision">
                A scan of more than 10,000 indexes of one key comes here.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Scans that wait for a decision"
                  rows={content}
                  keyOf={({ scanId }) => scanId}
                  columns={[
                    { name: 'Account', cell: ({ accountId }) => <Code of={accountId} /> },
                    { name: 'Chain', cell: ({ chain }) => chain },
                    { name: 'Scanned', align: 'right', cell: ({ scanned }) => scanned.toLocaleString('en') },
                    { name: 'Found', align: 'right', cell: ({ found }) => found.toLocaleString('en') },
                    {
                      name: 'Asks for',
                      align: 'right',
                      cell: ({ requestedMaxScan }) => requestedMaxScan?.toLocaleString('en') ?? '–',
                    },
                    {
                      name: 'Requests',
                      align: 'right',
                      wideOnly: true,
                      cell: ({ estimate }) => estimate.requests.toLocaleString('en'),
                    },
                    { name: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
                    { name: 'Decision', cell: ({ scanId }) => <Limit scanId={scanId} /> },
                  ]}
                />
                <Steps next={next} what="scans">
                  {content.length} shown
                </Steps>
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

function Limit({ scanId }: { scanId: string }): JSX.Element {
  const again = (): void => readAgain('listScanLimits');
  const call = () => ({ params: { scanId } });
  const approve = useSend(
    () => askWithFactor('A scan goes as far as it asks for.', 'approveScanLimit', null, call),
    again,
  );
  const decline = useSend(
    () => askWithFactor('A scan stays at the limit that goes without staff.', 'declineScanLimit', null, call),
    again,
  );
  return (
    <>
      <Form inline sending={approve} label="Let it go on" />
      <Form inline sending={decline} label="Decline" danger />
    </>
  );
}

/** What was used in this month, what it costs, and the plan. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { BAND_TERMS } from '../../protocol/plans.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { Band } from '../../protocol/slugs.ts';
import { ask, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Form, useSend } from '../ui/form.tsx';
import { Facts, Head, Instant, Meter, Panel, Status } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { cut, grouped, words } from '../ui/text.ts';

type Usage = ReplyOf<'getUsage'>;
/** Bands that an owner changes to without talking to anybody. */
const OWN_BANDS = ['launch', 'growth', 'scale', 'enterprise'] as const satisfies readonly Band[];

export function Billing({ scope }: PageProps): JSX.Element {
  const read = useRead('getUsage', scope, undefined, { live: true });
  return (
    <>
      <Head
        title="Usage and plan"
        note={
          scope.environment === 'sandbox' ? 'A sandbox has no limits and costs nothing.' : 'The month counts in UTC.'
        }
      />
      <Shown read={read}>{(usage) => <Whole scope={scope} usage={usage} />}</Shown>
    </>
  );
}

function Whole({ scope, usage }: Pick<PageProps, 'scope'> & { usage: Usage }): JSX.Element {
  const { period, plan, activeAddresses, settledTransactions, overage, projected } = usage;
  const [isChanging, setChanging] = useState(false);
  const isMetered = scope.environment === 'live';
  return (
    <>
      {plan.subscription === 'lapsed' && (
        <p class="notice bad">
          The subscription has lapsed: no address can be issued. Deposits, payments and webhooks go on.
        </p>
      )}
      <div class="columns">
        <Panel title="This month" note={`${period.start} to ${period.end}`}>
          <Meter label="Active addresses" used={activeAddresses.current} limit={activeAddresses.limit} />
          <Meter label="Settled withdrawals" used={settledTransactions.count} limit={settledTransactions.included} />
          {isMetered && (
            <Facts
              rows={[
                ['Billed addresses', `${grouped(String(activeAddresses.billed))}, the highest count of the month`],
                [
                  'Overage so far',
                  `${grouped(String(overage.transactions))} withdrawals · ${grouped(overage.amount)} ${overage.currency}`,
                ],
                [
                  'At this pace',
                  `${grouped(String(projected.transactions))} withdrawals · ${grouped(projected.overageAmount)} ${overage.currency} of overage (an estimate)`,
                ],
              ]}
            />
          )}
        </Panel>
        <Panel
          title="Plan"
          actions={
            isMetered &&
            may('owner') &&
            plan.tier !== 'free' && (
              <button type="button" class="button" onClick={() => setChanging(true)}>
                Change the band
              </button>
            )
          }
        >
          <Facts
            rows={[
              ['Tier', words(plan.tier)],
              ['Band', plan.tier === 'free' ? '–' : words(plan.band)],
              ['Subscription', <Status of={plan.subscription} />],
              [
                'Monthly fee',
                plan.tier === 'free'
                  ? '0 USD'
                  : `${grouped(cut(String(BAND_TERMS[plan.band].monthlyFeeCents), 2))} USD`,
              ],
              ...(plan.pendingBand === null
                ? []
                : [
                    [`Becomes ${words(plan.pendingBand.band)}`, <Instant at={plan.pendingBand.effectiveAt} />] as const,
                  ]),
            ]}
          />
        </Panel>
      </div>
      <Panel title="Bands" note="Prices a month; a withdrawal counts when it is confirmed">
        <Table
          caption="Bands"
          rows={OWN_BANDS.map((band) => ({ band, ...BAND_TERMS[band] }))}
          keyOf={({ band }) => band}
          columns={[
            {
              name: 'Band',
              cell: ({ band }) => (
                <>
                  {words(band)} {band === plan.band && plan.tier !== 'free' && <span class="faint">· yours</span>}
                </>
              ),
            },
            { name: 'Addresses', align: 'right', cell: ({ addresses }) => grouped(String(addresses)) },
            {
              name: 'Fee (USD)',
              align: 'right',
              cell: ({ monthlyFeeCents }) => grouped(cut(String(monthlyFeeCents), 2)),
            },
            {
              name: 'Included',
              align: 'right',
              cell: ({ includedTransactions }) => grouped(String(includedTransactions)),
            },
            { name: 'Each above (USD)', align: 'right', cell: ({ overageMills }) => cut(String(overageMills), 3) },
            {
              name: 'Requests a minute',
              align: 'right',
              cell: ({ requestsPerMinute }) => grouped(String(requestsPerMinute)),
              wideOnly: true,
            },
          ]}
        />
      </Panel>
      {isChanging && <ChangeBand scope={scope} now={plan.band} close={() => setChanging(false)} />}
    </>
  );
}

function ChangeBand({ scope, now, close }: Pick<PageProps, 'scope'> & { now: Band; close: () => void }): JSX.Element {
  const sending = useSend(
    ({ band = now }, idempotencyKey) => ask('changeBand', scope, { idempotencyKey, body: { band: band as Band } }),
    () => {
      readAgain('getUsage');
      close();
    },
  );
  return (
    <Dialog title={`Change the band (${scope.environment})`} onClose={close}>
      <p>A larger band begins at once, a smaller one with the next month.</p>
      <Form sending={sending} label="Change" onCancel={close}>
        <Choice label="Band" name="band" options={OWN_BANDS.map((band) => [band, words(band)] as const)} value={now} />
      </Form>
    </Dialog>
  );
}

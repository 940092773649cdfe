/** What was used in this month, what it costs, and the plan. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { BAND_TERMS } from '../../protocol/plans.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { Band, Tier } from '../../protocol/slugs.ts';
import { ask, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Bars } from '../ui/chart.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Form, useSend } from '../ui/form.tsx';
import { Facts, Head, Instant, Meter, Panel, Status } from '../ui/parts.tsx';
import { QuotaWarnings } from '../ui/quota-warnings.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { cut, dollars, grouped, words } from '../ui/text.ts';
import { Statements } from './statements.tsx';

type Usage = ReplyOf<'getUsage'>;
type Plan = Usage['plan'];
/** Tiers that an owner changes between without talking to anybody. */
const OWN_TIERS: readonly Tier[] = ['free', 'premium'];
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
      <QuotaWarnings warnings={usage.warnings} />
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
            may('owner') && (
              <button type="button" class="button" onClick={() => setChanging(true)}>
                Change the plan
              </button>
            )
          }
        >
          <Facts
            rows={[
              ['Tier', words(plan.tier)],
              ['Band', plan.tier === 'free' ? '–' : words(plan.band)],
              ['Subscription', <Status of={plan.subscription} />],
              ['Monthly fee', plan.tier === 'free' ? '0 USD' : `${dollars(BAND_TERMS[plan.band].monthlyFeeCents)} USD`],
              ...(plan.pendingBand === null
                ? []
                : [
                    [
                      `Becomes ${words(plan.pendingBand.tier)}${plan.pendingBand.tier === 'free' ? '' : `, ${plan.pendingBand.band}`}`,
                      <Instant at={plan.pendingBand.effectiveAt} />,
                    ] as const,
                  ]),
            ]}
          />
        </Panel>
      </div>
      {isMetered && activeAddresses.days.length > 0 && (
        <Panel
          title="Addresses by day"
          note="The highest count of each day, in UTC; the highest of the month is billed"
        >
          <Bars
            caption="Highest count of active addresses of each day of the month"
            what="Addresses"
            bars={activeAddresses.days.map(({ day, highest }) => ({
              label: day,
              value: highest,
              shown: grouped(String(highest)),
            }))}
          />
        </Panel>
      )}
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
              cell: ({ monthlyFeeCents }) => dollars(monthlyFeeCents),
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
      {isMetered && <Statements scope={scope} />}
      {isChanging && <ChangePlan scope={scope} plan={plan} close={() => setChanging(false)} />}
    </>
  );
}

/** Tier and band of a change, with what it would cost now; the server says whether it may be. */
function ChangePlan({ scope, plan, close }: Pick<PageProps, 'scope'> & { plan: Plan; close: () => void }): JSX.Element {
  const [tier, setTier] = useState<Tier>(plan.tier === 'free' ? 'premium' : plan.tier);
  const [band, setBand] = useState<Band>(plan.band);
  const hasBand = tier !== 'free';
  const preview = useRead('previewPlan', scope, { query: { tier, ...(hasBand ? { band } : {}) } });
  const sending = useSend<Plan>(
    (_values, idempotencyKey) =>
      tier === plan.tier && hasBand
        ? ask('changeBand', scope, { idempotencyKey, body: { band } })
        : ask('changePlan', scope, { idempotencyKey, body: { tier, ...(hasBand ? { band } : {}) } }),
    () => {
      readAgain('getUsage', 'previewPlan', 'listStatements');
      close();
    },
  );
  const tiers = OWN_TIERS.includes(plan.tier as 'free') ? OWN_TIERS : [plan.tier];
  return (
    <Dialog title={`Change the plan (${scope.environment})`} onClose={close}>
      <Form sending={sending} label="Change" onCancel={close}>
        <Choice
          label="Tier"
          name="tier"
          options={tiers.map((one) => [one, words(one)] as const)}
          value={tier}
          onChange={(one) => setTier(one as Tier)}
        />
        {hasBand && (
          <Choice
            label="Band"
            name="band"
            options={OWN_BANDS.map((one) => [one, words(one)] as const)}
            value={band}
            onChange={(one) => setBand(one as Band)}
          />
        )}
        <div aria-live="polite">
          <Shown read={preview} rows={3}>
            {({ effectiveAt, proration, overage, monthlyFee, refusal, loses, currency }) => (
              <>
                <Facts
                  rows={[
                    ['Begins', effectiveAt === null ? 'Nothing would change' : <Instant at={effectiveAt} />],
                    ['Rest of the month', `${grouped(proration)} ${currency}`],
                    [
                      'Overage fixed',
                      `${grouped(String(overage.transactions))} withdrawals · ${overage.amount} ${currency}`,
                    ],
                    ['By the month', `${grouped(monthlyFee)} ${currency}`],
                  ]}
                />
                {loses.includes('sso') && (
                  <p class="notice warn">
                    Single sign-on ends with it. Members who came by the provider set a password by “Forgotten
                    password”; let them know before.
                  </p>
                )}
                {refusal !== null && (
                  <p class="notice warn">
                    It would be refused: <code>{refusal.code}</code> {JSON.stringify(refusal.details)}
                  </p>
                )}
              </>
            )}
          </Shown>
        </div>
      </Form>
    </Dialog>
  );
}

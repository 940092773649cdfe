/** Contracts of tokens that accounts asked for: one administrator accepts, another publishes. Treasury Q. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Call } from '../../protocol/client.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { TOKEN_REQUEST_STATES } from '../../protocol/slugs.ts';
import { askWithFactor } from '../app/ask.ts';
import { place } from '../app/location.ts';
import { readAgain, useRead } from '../app/read.ts';
import { login } from '../app/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, useSend, type Values } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Steps, Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { Differences, PublishForm, signaturesOf } from './admin-registry-version.tsx';

type Review = ReplyOf<'listTokenReviews'>['content'][number];
type Hazards = NonNullable<NonNullable<Call<'acceptTokenRequest'>['body']>['acknowledgedHazards']>;
const TONES = { under_review: 'warn', accepted: 'info', published: 'good', declined: 'bad' } as const;
const HAZARD = 'hazard:';

const claimed = ({ claims, onChain }: Review): string =>
  onChain === null
    ? claims.map(({ symbol, decimals }) => `${symbol} (${decimals})`).join(', ')
    : `${onChain.symbol} (${onChain.decimals})`;

export function TokenRequests(): JSX.Element {
  const { state, after } = place.value.query;
  const read = useRead('listTokenReviews', null, {
    query: {
      ...(state === undefined ? {} : { state: state as Review['state'] }),
      ...(after === undefined ? {} : { after }),
    },
  });
  const [shown, setShown] = useState<string | null>(null);
  return (
    <>
      <Head title="Token requests" note="Contracts that accounts asked for, each once." />
      <div class="filters">
        <Filter name="state" label="State" options={TOKEN_REQUEST_STATES.map((one) => [one, words(one)])} />
      </div>
      <Panel>
        <Shown read={read}>
          {({ content, next }) => {
            const open = content.find(({ id }) => id === shown);
            return content.length === 0 ? (
              <Empty title={state === undefined ? 'No token was asked for' : 'None in this state'}>
                A token that the catalogue lacks comes here once an account asks for it.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Token requests"
                  rows={content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'Token',
                      cell: (review) => (
                        <button type="button" class="link" onClick={() => setShown(review.id)}>
                          <Text of={claimed(review)} />
                        </button>
                      ),
                    },
                    { name: 'State', cell: ({ state: now }) => <Status of={now} tone={TONES[now]} /> },
                    { name: 'Chain', cell: ({ chain }) => chain },
                    { name: 'Contract', cell: ({ contractAddress }) => <Code of={contractAddress} /> },
                    { name: 'Asked by', align: 'right', cell: ({ requestedBy }) => requestedBy },
                    { name: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                  ]}
                />
                <Steps next={next} what="token requests">
                  {content.length} shown
                </Steps>
                {open !== undefined && <Decide review={open} close={() => setShown(null)} />}
              </>
            );
          }}
        </Shown>
      </Panel>
    </>
  );
}

/** What the chain says of the contract, and the decision on it. */
function Decide({ review, close }: { review: Review; close: () => void }): JSX.Element {
  const { id, state, onChain, trouble, acceptedBy, outcome, accountId, chain, contractAddress, createdAt } = review;
  const done = (): void => {
    readAgain('listTokenReviews');
    close();
  };
  const accept = useSend(
    (values) =>
      askWithFactor('A contract is accepted.', 'acceptTokenRequest', null, () => ({
        params: { id },
        body: { acknowledgedHazards: tickedIn(values) },
      })),
    done,
  );
  const decline = useSend(
    ({ reason = '' }) =>
      askWithFactor('A contract is declined.', 'declineTokenRequest', null, () => ({
        params: { id },
        body: { reason: reason.trim() },
      })),
    done,
  );
  const isOpen = state === 'under_review' || state === 'accepted';
  return (
    <Dialog title="Token request" onClose={close} wide>
      <Facts
        rows={[
          ['Contract', <Code of={contractAddress} whole />],
          ['Chain', accountId === null ? chain : `${chain}, a simulated ledger of ${accountId}`],
          [
            'The contract says',
            onChain === null ? 'Not read yet' : <Text of={`${onChain.name}: ${claimed(review)}`} />,
          ],
          ['Read', <Instant at={onChain?.readAt ?? null} />],
          ...(trouble === null ? [] : [['Trouble', <Text of={trouble} />] as const]),
          ...(acceptedBy === null ? [] : [['Accepted by', <Code of={acceptedBy} />] as const]),
          ...(outcome === null ? [] : [['Outcome', <Text of={outcome} />] as const]),
          ['Asked for', <Instant at={createdAt} />],
        ]}
      />
      {isOpen && (
        <>
          {state === 'under_review' ? (
            <Form sending={accept} label="Accept">
              <HazardTicks of={review} />
            </Form>
          ) : accountId !== null ? (
            <p class="notice">A contract on a simulated ledger is in no registry: it stays accepted.</p>
          ) : acceptedBy === login.value?.userId ? (
            <p class="notice">You accepted it: another administrator publishes it.</p>
          ) : (
            <Publish review={review} done={done} />
          )}
          <Form sending={decline} label="Decline" danger>
            <Field label="Reason" name="reason" required maxLength={500} hint="Those who asked for it read it." />
          </Form>
        </>
      )}
    </Dialog>
  );
}

const tickedIn = (values: Values): Hazards =>
  Object.keys(values)
    .filter((name) => name.startsWith(HAZARD))
    .map((name) => name.slice(HAZARD.length)) as Hazards;

function HazardTicks({ of: { onChain } }: { of: Review }): JSX.Element | null {
  if (onChain === null || onChain.hazards.length === 0) return null;
  return (
    <fieldset>
      <legend>What the contract can do to its holders: tick what you looked at</legend>
      <div class="checks">
        {onChain.hazards.map((hazard) => (
          <label key={hazard}>
            <input type="checkbox" name={`${HAZARD}${hazard}`} /> {words(hazard)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const KINDS = [
  ['native', 'Its issuer redeems it on this chain'],
  ['bridged', 'A bridge holds what it stands for'],
  ['pegged', 'Somebody else promises its worth'],
] as const;

/** The version of the registry with an accepted contract, as another administrator publishes it. Treasury Q6, Q7. */
function Publish({ review, done }: { review: Review; done: () => void }): JSX.Element {
  const { id } = review;
  const [kind, setKind] = useState<(typeof KINDS)[number][0]>('native');
  const read = useRead('proposeTokenVersion', null, { params: { id }, query: { kind } });
  const publish = useSend(
    (values) =>
      askWithFactor('A contract becomes a token of the registry.', 'publishTokenRequest', null, () => ({
        params: { id },
        body: {
          content: values['content'] ?? '',
          signatures: signaturesOf(values['signatures']),
          acknowledgedHazards: tickedIn(values),
        },
      })),
    done,
  );
  return (
    <>
      <Choice
        label="Kind"
        name="kind"
        options={KINDS}
        value={kind}
        onChange={(value) => setKind(value as typeof kind)}
      />
      <Shown read={read} rows={3}>
        {(next) => (
          <>
            <Differences of={next} />
            <PublishForm next={next} sending={publish}>
              <HazardTicks of={review} />
            </PublishForm>
          </>
        )}
      </Shown>
    </>
  );
}

/**
 * What only a sandbox can do: pay an address, mine, reorganize, go silent, keep what is broadcast, replace it, cut the
 * edge, let an endpoint fail, deliver twice, forget.
 */
import '../ui/together.ts';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answered } from '../../protocol/client.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Head, Panel } from '../ui/parts.tsx';
import { Empty } from '../ui/states.tsx';
import { plain, shortened } from '../ui/text.ts';
import { CHAIN_OPTIONS } from './addresses.tsx';

export function SandboxTools({ scope }: PageProps): JSX.Element {
  const [isResetting, setResetting] = useState(false);
  if (!may('editor')) {
    return (
      <>
        <Head title="Sandbox tools" />
        <Panel>
          <Empty title="Your role reads only">An editor or an owner of the organization can use these tools.</Empty>
        </Panel>
      </>
    );
  }
  return (
    <>
      <Head title="Sandbox tools" note="They move the simulated chains of this account, and nothing else." />
      <div class="columns">
        <Deposit scope={scope} />
        <Confirm scope={scope} />
        <Reorg scope={scope} />
        <Down scope={scope} />
        <Stuck scope={scope} />
        <Replaced scope={scope} />
        <EdgeOffline scope={scope} />
        <EndpointFailure scope={scope} />
        <Twice scope={scope} />
      </div>
      <Panel
        title="Begin anew"
        note="Forgets addresses, transactions and deliveries of this sandbox"
        actions={
          <button type="button" class="button danger" onClick={() => setResetting(true)}>
            Reset the sandbox
          </button>
        }
      >
        <p class="faint">Keys, members and endpoints stay.</p>
      </Panel>
      {isResetting && <Reset scope={scope} close={() => setResetting(false)} />}
    </>
  );
}

function Tool<T>({
  title,
  note,
  label,
  send,
  said,
  children,
}: {
  title: string;
  note: string;
  label: string;
  send: (values: Readonly<Record<string, string>>, idempotencyKey: string) => Promise<Answered<T>>;
  said: (reply: T) => ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  const [done, setDone] = useState<ComponentChildren>(null);
  const sending = useSend<T>(send, (reply) => {
    setDone(said(reply));
    readAgain('listTransactions', 'listEdgeSessions', 'listDeliveries');
  });
  return (
    <Panel title={title} note={note}>
      <Form sending={sending} label={label}>
        {children}
      </Form>
      <p class="said" role="status">
        {done}
      </p>
    </Panel>
  );
}

function Deposit({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const addresses = useRead('listAddresses', scope, { query: { size: '50', status: 'active' } });
  const rows = addresses.data?.content ?? [];
  return (
    <Tool<ReplyOf<'simulateDeposit'>>
      title="Deposit"
      note="Somebody pays one of your addresses"
      label="Pay it"
      said={({ txid }) => (
        <>
          Paid with {shortened(txid)}. <a href={hrefOf(scope, '/deliveries')}>See what was posted</a>
        </>
      )}
      send={({ address = '', amount = '', confirmed = 'now' }, idempotencyKey) => {
        const [chain, text] = address.split(' ') as [Chain, string];
        return ask('simulateDeposit', scope, {
          idempotencyKey,
          body: { chain, address: text, amount, autoConfirm: confirmed === 'now' },
        });
      }}
    >
      <Choice
        label="Address"
        name="address"
        options={
          rows.length === 0
            ? [['', 'Issue an address first']]
            : rows.map(
                ({ chain, address, userRef }) =>
                  [`${chain} ${address}`, `${chain} · ${shortened(address)} · ${userRef ?? 'own'}`] as const,
              )
        }
      />
      <Field
        label="Amount"
        name="amount"
        required
        inputMode="decimal"
        value="0.5"
        pattern="[0-9]+([.][0-9]+)?"
        hint="In the coin of the chain."
      />
      <Choice
        label="Confirmed"
        name="confirmed"
        options={[
          ['now', 'At once'],
          ['later', 'When I mine'],
        ]}
        value="now"
      />
    </Tool>
  );
}

function Confirm({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateConfirmation'>>
      title="Confirmations"
      note="Mines until a transaction is that deep"
      label="Mine"
      said={({ confirmations }) => `It has ${confirmations} confirmations.`}
      send={({ chain, txid = '', confirmations = '1' }, idempotencyKey) =>
        ask('simulateConfirmation', scope, {
          idempotencyKey,
          body: { chain: chain as Chain, txid: txid.trim(), confirmations: Number(confirmations) },
        })
      }
    >
      <Choice label="Chain" name="chain" options={CHAIN_OPTIONS} value="eth" />
      <Field label="Transaction" name="txid" required maxLength={160} />
      <Field label="Confirmations" name="confirmations" type="number" min={1} max={1_000} required value="12" />
    </Tool>
  );
}

function Reorg({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateReorg'>>
      title="Reorg"
      note="Replaces the newest blocks"
      label="Replace"
      said={({ depth }) => `${depth} ${depth === 1 ? 'block was' : 'blocks were'} replaced.`}
      send={({ chain, depth = '1' }, idempotencyKey) =>
        ask('simulateReorg', scope, { idempotencyKey, body: { chain: chain as Chain, depth: Number(depth) } })
      }
    >
      <Choice label="Chain" name="chain" options={CHAIN_OPTIONS} value="eth" />
      <Field label="Depth in blocks" name="depth" type="number" min={1} max={1_000} required value="1" />
    </Tool>
  );
}

function Down({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateChainDown'>>
      title="Chain down"
      note="Makes a chain unreachable for a while"
      label="Take it down"
      said={({ until }) => `Unreachable until ${until}.`}
      send={({ chain, seconds = '60' }, idempotencyKey) =>
        ask('simulateChainDown', scope, { idempotencyKey, body: { chain: chain as Chain, seconds: Number(seconds) } })
      }
    >
      <Choice label="Chain" name="chain" options={CHAIN_OPTIONS} value="eth" />
      <Field label="Seconds" name="seconds" type="number" min={0} max={3_600} required value="60" />
    </Tool>
  );
}

function Stuck({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateStuck'>>
      title="Stuck"
      note="What is broadcast stays in the pool, to be repriced"
      label="Set"
      said={({ stuck, mined }) => (stuck ? 'No block takes what is broadcast.' : `${mined.length} left the pool.`)}
      send={({ chain, until }, idempotencyKey) =>
        ask('simulateStuck', scope, {
          idempotencyKey,
          body: {
            chain: chain as Chain,
            stuck: until !== 'now',
            ...(until === 'repriced' ? { untilRepriced: true } : {}),
            ...(until === 'blocks' ? { blocks: STUCK_BLOCKS } : {}),
          },
        })
      }
    >
      <Choice label="Chain" name="chain" options={CHAIN_OPTIONS} value="eth" />
      <Choice
        label="Until"
        name="until"
        value="repriced"
        options={[
          ['repriced', 'It is repriced'],
          ['blocks', `${STUCK_BLOCKS} more blocks`],
          ['said', 'I let it go'],
          ['now', 'Now: let it go'],
        ]}
      />
    </Tool>
  );
}
const STUCK_BLOCKS = 5;

function Replaced({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateReplaced'>>
      title="Replaced"
      note="Another transaction of the same sender takes the place of one in the pool"
      label="Replace it"
      said={({ txid, height }) => `${shortened(txid)} took its place in block ${height}.`}
      send={({ chain, txid = '' }, idempotencyKey) =>
        ask('simulateReplaced', scope, { idempotencyKey, body: { chain: chain as Chain, txid: txid.trim() } })
      }
    >
      <Choice label="Chain" name="chain" options={CHAIN_OPTIONS} value="eth" />
      <Field
        label="Transaction"
        name="txid"
        required
        maxLength={160}
        hint="A withdrawal that waits: make it stuck first. Not on tron and sol."
      />
    </Tool>
  );
}

function EdgeOffline({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateEdgeOffline'>>
      title="Edge offline"
      note="Cuts the streams of your edges and lets none in for a while"
      label="Cut them"
      said={({ until }) => `No edge is let in until ${until}.`}
      send={({ seconds = '60' }, idempotencyKey) =>
        ask('simulateEdgeOffline', scope, { idempotencyKey, body: { seconds: Number(seconds) } })
      }
    >
      <Field
        label="Seconds"
        name="seconds"
        type="number"
        min={0}
        max={3_600}
        required
        value="60"
        hint="0 ends it now."
      />
    </Tool>
  );
}

function EndpointFailure({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const webhooks = useRead('listWebhooks', scope, { query: { size: '50' } }).data?.content ?? [];
  return (
    <Tool<ReplyOf<'simulateEndpointFailure'>>
      title="Endpoint fails"
      note="Attempts at one of your endpoints fail, or are late"
      label="Set"
      said={({ attempts }) => (attempts === 0 ? 'It is ended.' : `The next ${attempts} attempts fail or are late.`)}
      send={({ webhookId = '', attempts = '1', how = '' }, idempotencyKey) =>
        ask('simulateEndpointFailure', scope, {
          idempotencyKey,
          body: {
            webhookId,
            attempts: Number(attempts),
            ...(how === 'late' ? { delaySeconds: LATE_SECONDS } : { status: Number(how) }),
          },
        })
      }
    >
      <Choice
        label="Endpoint"
        name="webhookId"
        options={
          webhooks.length === 0
            ? [['', 'Register an endpoint first']]
            : webhooks.map(({ id, url }) => [id, plain(url)] as const)
        }
      />
      <Choice
        label="How"
        name="how"
        value="500"
        options={[
          ['500', 'Answers 500'],
          ['503', 'Answers 503'],
          ['410', 'Answers 410'],
          ['late', `Is ${LATE_SECONDS} seconds late: a timeout`],
        ]}
      />
      <Field
        label="Attempts"
        name="attempts"
        type="number"
        min={0}
        max={100}
        required
        value="3"
        hint="0 ends it now."
      />
    </Tool>
  );
}
const LATE_SECONDS = 15;

function Twice({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  return (
    <Tool<ReplyOf<'simulateDuplicateDelivery'>>
      title="Delivered twice"
      note="An event is posted again under the same id: count it once"
      label="Post it again"
      said={({ deliveryIds }) => `${deliveryIds.length} ${deliveryIds.length === 1 ? 'delivery' : 'deliveries'} again.`}
      send={({ eventId = '' }, idempotencyKey) =>
        ask('simulateDuplicateDelivery', scope, { idempotencyKey, body: { eventId: eventId.trim() } })
      }
    >
      <Field
        label="Event"
        name="eventId"
        required
        maxLength={40}
        placeholder="evt_…"
        pattern="\s*evt_[a-z2-7]{26}\s*"
        title="evt_ and 26 characters"
      />
    </Tool>
  );
}

function Reset({ scope, close }: Pick<PageProps, 'scope'> & { close: () => void }): JSX.Element {
  const sending = useSend(
    (_values, idempotencyKey) => ask('resetSandbox', scope, { idempotencyKey }),
    () => {
      readAgain('listAddresses', 'listTransactions', 'listDeliveries');
      close();
    },
  );
  return (
    <Dialog title="Reset the sandbox" onClose={close}>
      <p>Every address, transaction and delivery of this sandbox is forgotten. Live is not touched.</p>
      <Form sending={sending} label="Reset" danger onCancel={close} />
    </Dialog>
  );
}

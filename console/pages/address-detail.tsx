/** One address: what it holds, what came to it. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Form, useSend } from '../ui/form.tsx';
import { Amount, Code, Facts, Head, Instant, Panel, Status, Text } from '../ui/parts.tsx';
import { Qr } from '../ui/qr.tsx';
import { Empty, Failure, Shown, Skeleton } from '../ui/states.tsx';
import { plain } from '../ui/text.ts';
import { TransactionTable } from './transactions.tsx';

type Address = ReplyOf<'getAddress'>;

/** One of the first steps: without an endpoint no deposit is announced. Console C18. */
function Unheard({ scope }: Pick<PageProps, 'scope'>): JSX.Element | null {
  const webhooks = useRead('listWebhooks', scope, { query: { size: '1' } });
  if (webhooks.data?.totalElements !== 0) return null;
  return (
    <p class="notice">
      No endpoint receives events yet. <a href={hrefOf(scope, '/webhooks', { new: '1' })}>Register one</a>
    </p>
  );
}

export function AddressDetail({ scope, params }: PageProps): JSX.Element {
  const read = useRead('getAddress', scope, { params: { id: params['id']! } });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/addresses')}>Addresses</a>
      </p>
      <Shown read={read}>{(address) => <Whole scope={scope} address={address} />}</Shown>
    </>
  );
}

function Whole({ scope, address }: Pick<PageProps, 'scope'> & { address: Address }): JSX.Element {
  const { chain, userRef } = address;
  return (
    <>
      <Head
        title={plain(address.label ?? userRef ?? 'Own address')}
        note={
          <>
            {chain} · <Status of={address.status} />
          </>
        }
        actions={may('editor') && <Archive scope={scope} address={address} />}
      />
      {may('editor') && <Unheard scope={scope} />}
      <div class="columns">
        <Panel title="Address">
          <div class="address-card">
            <Qr text={address.address} label={`QR code of ${address.address}`} />
            <Facts
              rows={[
                ['Address', <Code of={address.address} whole />],
                ['Customer', <Text of={userRef} />],
                ['Label', <Text of={address.label} />],
                ['Tag', <Text of={address.tag} />],
                ['Path', <code>{address.derivationPath}</code>],
                ['Id', <Code of={address.id} whole />],
                ['Issued', <Instant at={address.createdAt} />],
              ]}
            />
          </div>
        </Panel>
        <Balance scope={scope} address={address} />
      </div>
      {userRef !== null && <Deposits scope={scope} userRef={userRef} chain={chain} />}
    </>
  );
}

/** A balance that could not be read is said to be unknown, never shown as zero. */
function Balance({ scope, address }: Pick<PageProps, 'scope'> & { address: Address }): JSX.Element {
  const read = useRead(
    'getBalance',
    scope,
    { params: { chain: address.chain, address: address.address } },
    { live: true },
  );
  const { data, failure, again } = read;
  return (
    <Panel title="Native balance" note="As the chain has it now">
      {data === null && failure === null && <Skeleton rows={3} />}
      {data === null && failure !== null && (
        <>
          <p class="notice warn">The balance is unknown at the moment. It is not zero.</p>
          <Failure failed={failure} again={() => void again()} />
        </>
      )}
      {data !== null && (
        <>
          {failure !== null && <p class="notice warn">The newest answer failed; this one is older.</p>}
          <p class="figure">
            <Amount value={data.amountFormatted} symbol={data.tokenSymbol} />
          </p>
          <Facts
            rows={[
              ['Available', <span class="amount">{data.available} in the smallest unit</span>],
              ['Reserved', <span class="amount">{data.reserved} in the smallest unit</span>],
              ['On the chain', data.accountExists ? 'Yes' : 'Nothing has reached it yet'],
            ]}
          />
        </>
      )}
    </Panel>
  );
}

function Deposits({
  scope,
  userRef,
  chain,
}: Pick<PageProps, 'scope'> & { userRef: string; chain: Address['chain'] }): JSX.Element {
  const read = useRead('listTransactions', scope, { query: { userRef, chain, size: '20' } }, { live: true });
  return (
    <Panel title="Transactions of this customer" note={chain}>
      <Shown read={read}>
        {(page) =>
          page.content.length === 0 ? (
            <Empty title="Nothing yet">A deposit shows here within seconds of its block.</Empty>
          ) : (
            <TransactionTable scope={scope} rows={page.content} />
          )
        }
      </Shown>
    </Panel>
  );
}

function Archive({ scope, address }: Pick<PageProps, 'scope'> & { address: Address }): JSX.Element {
  const isActive = address.status === 'active';
  const sending = useSend(
    (_values, idempotencyKey) =>
      ask(isActive ? 'archiveAddress' : 'unarchiveAddress', scope, { idempotencyKey, params: { id: address.id } }),
    () => readAgain('getAddress', 'listAddresses'),
  );
  return <Form inline sending={sending} label={isActive ? 'Archive' : 'Make active again'} />;
}

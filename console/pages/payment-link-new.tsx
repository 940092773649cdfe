/** Making a link, beside what its payers will see. payments P1, P21. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { CHECKOUT_CHAINS, type CheckoutChain, type LinkMode } from '../../protocol/slugs.ts';
import { ask, may } from '../app/ask.ts';
import { go, hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead, type Failed } from '../app/read.ts';
import { answeredBy, Choice, Field, Form, useSend, type Values } from '../ui/form.tsx';
import { Head, Panel } from '../ui/parts.tsx';
import { Empty } from '../ui/states.tsx';
import { grouped, plain } from '../ui/text.ts';
import { AmountField, DonationFields, EndFields, PayerFields, ShownFields } from './payment-link-fields.tsx';
import { NotActive } from './payment-parts.tsx';
import { newLinkOf, NOT_READY } from './payment-words.ts';

type Row = ReplyOf<'getPaymentReadiness'>['content'][number];

export function NewPaymentLink({ scope }: PageProps): JSX.Element {
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/payment-links')}>Payment links</a>
      </p>
      <Head title={`New payment link in ${scope.environment}`} note="What it asks for, and where, never changes." />
      {may('editor') ? (
        <>
          <NotActive scope={scope} />
          <Maker scope={scope} />
        </>
      ) : (
        <Panel>
          <Empty title="Your role reads only">An editor or an owner of the organization makes links.</Empty>
        </Panel>
      )}
    </>
  );
}

function Maker({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const chains = useRead('getPaymentReadiness', scope).data?.content ?? [];
  const settings = useRead('getPaymentSettings', scope).data;
  const [mode, setMode] = useState<LinkMode>('fixed');
  const [chosen, setChain] = useState<CheckoutChain | null>(null);
  const [named, setAsset] = useState<string | null>(null);
  const [typed, setTyped] = useState<Values>({});
  const chain = chosen ?? chains.find(({ ready }) => ready)?.chain ?? 'eth';
  const row = chains.find((one) => one.chain === chain);
  const assets = row === undefined ? [] : [row.asset, ...row.tokens.map(({ symbol }) => symbol)];
  const asset = named !== null && assets.includes(named) ? named : (assets[0] ?? '');
  const sending = useSend(
    async (values, idempotencyKey) => {
      const body = newLinkOf(values);
      return isRefusal(body) ? answeredBy(body) : ask('createPaymentLink', scope, { idempotencyKey, body });
    },
    ({ id }) => {
      readAgain('listPaymentLinks');
      go(hrefOf(scope, `/payment-links/${id}`), { replace: true });
    },
  );
  const move = (to: { chain: string; asset: string }): void => {
    setChain(to.chain as CheckoutChain);
    setAsset(to.asset);
  };
  return (
    <div class="beside">
      <Panel>
        <div
          onInput={({ currentTarget }) => {
            const form = currentTarget.querySelector('form');
            if (form !== null) setTyped(Object.fromEntries(new FormData(form)) as Values);
          }}
        >
          <Form sending={sending} label="Create the link" onCancel={() => go(hrefOf(scope, '/payment-links'))}>
            <Choice
              label="Kind"
              name="mode"
              value={mode}
              onChange={(value) => setMode(value as LinkMode)}
              options={[
                ['fixed', 'Fixed amount, paid once'],
                ['donation', 'Donations, the payer chooses'],
              ]}
            />
            <div class="pair">
              <Choice
                label="Network"
                name="chain"
                value={chain}
                onChange={(value) => setChain(value as CheckoutChain)}
                options={CHECKOUT_CHAINS.map((one) => [one, chainWords(one, chains)])}
              />
              <Choice
                label="Asset"
                name="asset"
                value={asset}
                onChange={setAsset}
                options={assets.map((one) => [one, one])}
              />
            </div>
            {row?.reason != null && <p class="notice warn">{NOT_READY[row.reason]}.</p>}
            {mode === 'fixed' ? (
              <AmountField label="Amount" name="amount" asset={asset} required hint={leastOf(row, asset)} />
            ) : (
              <>
                <DonationFields asset={asset} />
                <Choice
                  label="Addresses"
                  name="addressMode"
                  value="per_payer"
                  options={[
                    ['per_payer', 'One for each payer, who gives an e-mail'],
                    ['shared', 'One for all: for a page, a video, a print'],
                  ]}
                />
                <Field
                  label="Name in the address"
                  name="slug"
                  maxLength={64}
                  pattern="[a-z0-9]([a-z0-9]|-(?!-)){1,62}[a-z0-9]"
                  title="3 to 64 of a-z, 0-9 and single hyphens inside"
                  placeholder="help-us"
                  hint="Empty: random. Once taken it is never free again, for anybody."
                />
              </>
            )}
            {sending.failed !== null && <Cheaper failed={sending.failed} move={move} />}
            <h2>What payers see</h2>
            <ShownFields />
            <h2>Conditions</h2>
            <EndFields isDonation={mode === 'donation'} />
            <PayerFields />
          </Form>
        </div>
      </Panel>
      <aside aria-label="Preview">
        <Preview
          merchant={settings?.displayName ?? null}
          network={NETWORK_NAMES[chain]}
          asset={asset}
          mode={mode}
          typed={typed}
        />
      </aside>
    </div>
  );
}

/** Other networks on which the same amount is worth its fee. payments P21. */
function Cheaper({
  failed: { refusal },
  move,
}: {
  failed: Failed;
  move: (to: { chain: string; asset: string }) => void;
}): JSX.Element | null {
  const others = refusal.details['cheaper'];
  if (!Array.isArray(others) || others.length === 0) return null;
  return (
    <p class="actions">
      <span class="faint">Enough on:</span>
      {(others as { chain: CheckoutChain; asset: string; minimum: string }[]).map((one) => (
        <button key={`${one.chain} ${one.asset}`} type="button" class="button small" onClick={() => move(one)}>
          {NETWORK_NAMES[one.chain]}, from {grouped(one.minimum)} {one.asset}
        </button>
      ))}
    </p>
  );
}

const chainWords = (chain: CheckoutChain, rows: readonly Row[]): string => {
  const row = rows.find((one) => one.chain === chain);
  return `${NETWORK_NAMES[chain]}${row === undefined || row.ready || row.reason === 'not_active' ? '' : ' (not ready)'}`;
};

/** The least that is worth its sweep now. */
function leastOf(row: Row | undefined, asset: string): string | undefined {
  if (row === undefined) return undefined;
  const least =
    asset === row.asset ? row.nativeMinimum : (row.tokens.find(({ symbol }) => symbol === asset)?.minimum ?? null);
  return least === null || least === '0'
    ? undefined
    : `At least ${grouped(least)} ${asset}: less is not worth its fee.`;
}

function Preview({
  merchant,
  network,
  asset,
  mode,
  typed,
}: {
  merchant: string | null;
  network: string;
  asset: string;
  mode: LinkMode;
  typed: Values;
}): JSX.Element {
  const { amount = '', title = '', description = '' } = typed;
  const sum = mode === 'fixed' ? (amount === '' ? '0' : amount) : '';
  return (
    <div class="preview">
      <p class="faint">What payers see</p>
      <div class="preview-card">
        <p class="faint">{plain(merchant ?? 'Your name')}</p>
        {title !== '' && <p class="preview-title">{plain(title)}</p>}
        <p class="figure">
          {sum === '' ? 'Any amount' : grouped(sum)} <span class="faint">{asset}</span>
        </p>
        {description !== '' && <p class="break">{plain(description)}</p>}
        {(mode === 'donation' || typed['collectEmail'] !== undefined) && <p class="preview-line">E-mail</p>}
        <p class="preview-button">Show the address</p>
        <p class="faint">
          Send only {asset} on {network}.
        </p>
      </div>
    </div>
  );
}

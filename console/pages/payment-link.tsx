/** One link: where it is, what it raised, what was paid towards it. payments 3.2, P4. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { answeredBy, Form, useSend } from '../ui/form.tsx';
import { Amount, Code, Copy, Facts, Head, Instant, Meter, Panel, Status, Text } from '../ui/parts.tsx';
import { Qr } from '../ui/qr.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Pager } from '../ui/table.tsx';
import { grouped, plain, words } from '../ui/text.ts';
import { queryOf } from './addresses.tsx';
import { DonationFields, EndFields, MetadataField, PayerFields, ShownFields } from './payment-link-fields.tsx';
import { NotActive, PAYMENT_OPTIONS, PaymentTable } from './payment-parts.tsx';
import { asksFor, changesOf, CLOSED, percentOf, type Link } from './payment-words.ts';

type Open = 'edit' | 'pause' | 'resume' | 'close' | null;
type OfLink = Pick<PageProps, 'scope'> & { link: Link };

export function PaymentLinkDetail({ scope, params }: PageProps): JSX.Element {
  const read = useRead('getPaymentLink', scope, { params: { id: params['id']! } }, { live: true });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/payment-links')}>Payment links</a>
      </p>
      <Shown read={read}>{(link) => <Whole scope={scope} link={link} />}</Shown>
    </>
  );
}

function Whole({ scope, link }: OfLink): JSX.Element {
  const [open, setOpen] = useState<Open>(null);
  const { status, closedReason } = link;
  const button = (what: Exclude<Open, null>, label: string) => (
    <button type="button" class={`button ${what === 'close' ? 'danger' : ''}`} onClick={() => setOpen(what)}>
      {label}
    </button>
  );
  return (
    <>
      <Head
        title={plain(link.title ?? link.slug)}
        note={
          <>
            <Status of={status} /> {closedReason !== null && CLOSED[closedReason]}
          </>
        }
        actions={
          <>
            <a class="button" href={link.url} target="_blank" rel="noopener noreferrer">
              Open its page
            </a>
            {may('editor') && (
              <>
                {button('edit', 'Edit')}
                {status === 'active' && button('pause', 'Pause')}
                {status === 'paused' && button('resume', 'Resume')}
                {status !== 'closed' && button('close', 'Close')}
              </>
            )}
          </>
        }
      />
      {status !== 'closed' && <NotActive scope={scope} />}
      <div class="columns">
        <Share scope={scope} link={link} />
        <Raised link={link} />
      </div>
      <Paid scope={scope} link={link} />
      <Asked link={link} />
      {open !== null && <Change scope={scope} link={link} open={open} close={() => setOpen(null)} />}
    </>
  );
}

/** Where payers go, and what its page cannot promise. */
function Share({ scope, link: { url, slug, address, derivationPath } }: OfLink): JSX.Element {
  const element = `<flock-pay link="${slug}" identity="the key of your edge" environment="${scope.environment}"></flock-pay>`;
  return (
    <Panel title="Share it">
      <div class="address-card">
        <Qr text={url} label={`QR code of ${url}`} />
        <div>
          <p>
            <Code of={url} whole />
          </p>
          <p class="hint">
            Its page shows what this service says, an address too. Where payers must not have to trust it, put the
            element into your own page: it shows only addresses that your edge signed.
          </p>
        </div>
      </div>
      <details>
        <summary>In your own page</summary>
        <div class="command">
          <pre tabIndex={0}>{element}</pre>
          <Copy text={element} />
        </div>
        <p class="hint">
          The key comes from your edge (<code>flock-edge keys</code>, “identity”), the script and its hash from the
          release that you run: neither from here. Register the origin of your page under{' '}
          <a href={hrefOf(scope, '/payment-settings')}>Payment settings</a>.
        </p>
      </details>
      {address !== null && (
        <Facts
          rows={[
            ['Its address', <Code of={address} whole />],
            ['Path', <code>{derivationPath}</code>],
          ]}
        />
      )}
    </Panel>
  );
}

function Raised({ link }: { link: Link }): JSX.Element {
  const { amountRaised, asset, thresholdAmount, amount, decimals, paymentCount, uses, maxUses } = link;
  const wanted = thresholdAmount ?? amount;
  return (
    <Panel title="Raised" note="Confirmed money that came in time">
      <p class="figure">
        <Amount value={amountRaised} symbol={asset} />
      </p>
      {wanted !== null && (
        <Meter
          label={link.mode === 'fixed' ? 'Of what it asks for' : 'Of the sum that closes it'}
          used={percentOf(amountRaised, wanted, decimals)}
          limit={100}
          warnAt={null}
          shown={`${percentOf(amountRaised, wanted, decimals)} % of ${grouped(wanted)} ${asset}`}
        />
      )}
      <Facts
        rows={[
          ['Payments', `${paymentCount} confirmed`],
          ['In use', maxUses === null ? `${uses}` : `${uses} of ${maxUses}`],
          ['Closes', link.closesAt === null ? '–' : <Instant at={link.closesAt} />],
          ...(link.closedAt === null
            ? []
            : ([
                ['Closed', <Instant at={link.closedAt} />],
                ['Watched until', <Instant at={link.monitorUntil} />],
              ] as const)),
        ]}
      />
    </Panel>
  );
}

function Asked({ link }: { link: Link }): JSX.Element {
  const keys = Object.keys(link.metadata);
  return (
    <div class="columns">
      <Panel title="What it asks for">
        <Facts
          rows={[
            ['Kind', link.mode === 'fixed' ? 'A fixed amount, paid once' : 'Donations'],
            ['Amount', asksFor(link)],
            ['Network', NETWORK_NAMES[link.chain]],
            ['Token contract', <Code of={link.tokenContract} whole />],
            ['Addresses', link.addressMode === 'shared' ? 'One for all' : 'One for each payer'],
            ['E-mail', link.collectEmail ? 'Asked for; each payer gets an invoice' : 'Not asked for'],
          ]}
        />
      </Panel>
      <Panel title="About it">
        <Facts
          rows={[
            ['Description', link.description === null ? '–' : <bdi class="break">{plain(link.description)}</bdi>],
            ['Goes on to', <Text of={link.successUrl} />],
            ['Name', <Code of={link.slug} whole />],
            ['Id', <Code of={link.id} whole />],
            ['Created', <Instant at={link.createdAt} />],
            ['Changed', <Instant at={link.updatedAt} />],
          ]}
        />
        {keys.length > 0 && (
          <div class="body-text">
            <h3>Metadata</h3>
            <pre tabIndex={0}>{JSON.stringify(link.metadata, null, 2)}</pre>
          </div>
        )}
      </Panel>
    </div>
  );
}

/** What came towards it. */
function Paid({ scope, link }: OfLink): JSX.Element {
  const query = queryOf(['status', 'after']);
  const read = useRead('listLinkPayments', scope, { params: { id: link.id }, query: query as never }, { live: true });
  return (
    <Panel title="Payments">
      <div class="filters">
        <Filter name="status" label="Status" options={PAYMENT_OPTIONS} all="Received something" />
      </div>
      <Shown read={read} rows={3}>
        {(page) =>
          page.content.length === 0 ? (
            <Empty title={place.value.query['status'] === undefined ? 'No money came yet' : 'None of this status'}>
              {place.value.query['status'] === undefined &&
                'Payers who opened its page and did not pay yet are under “Awaiting payment”.'}
            </Empty>
          ) : (
            <>
              <PaymentTable scope={scope} rows={page.content} live={JSON.stringify(query)} ofOneLink />
              <Pager of={page} what="payments" />
            </>
          )
        }
      </Shown>
    </Panel>
  );
}

const TITLES = {
  edit: 'Edit the link',
  pause: 'Pause the link',
  resume: 'Resume the link',
  close: 'Close the link',
} as const;
const NOTES = {
  edit: 'Payments keep the terms that they were opened with.',
  pause: 'Nobody opens a payment any more. Open ones go on, count and are announced.',
  resume: 'Payers can open payments again.',
  close:
    'For ever: it never opens again, and its name is never free again. What was seen before still confirms; what comes later is credited, and counts nowhere.',
} as const;

function Change({ scope, link, open, close }: OfLink & { open: Exclude<Open, null>; close: () => void }): JSX.Element {
  const params = { id: link.id };
  const sending = useSend<Link>(
    (values, idempotencyKey) => {
      if (open === 'pause') return ask('pausePaymentLink', scope, { idempotencyKey, params });
      if (open === 'resume') return ask('resumePaymentLink', scope, { idempotencyKey, params });
      if (open === 'close') return ask('closePaymentLink', scope, { idempotencyKey, params });
      const body = changesOf(values, link);
      return isRefusal(body)
        ? Promise.resolve(answeredBy(body))
        : ask('changePaymentLink', scope, { idempotencyKey, params, body });
    },
    () => {
      readAgain('getPaymentLink', 'listPaymentLinks', 'listLinkPayments');
      close();
    },
  );
  const isDonation = link.mode === 'donation';
  return (
    <Dialog
      title={`${TITLES[open]} (${words(scope.environment).toLowerCase()})`}
      onClose={close}
      wide={open === 'edit'}
    >
      <p>{NOTES[open]}</p>
      <Form
        sending={sending}
        label={open === 'edit' ? 'Save' : TITLES[open]}
        danger={open === 'close'}
        onCancel={close}
      >
        {open === 'edit' && (
          <>
            <ShownFields link={link} />
            {link.status === 'closed' ? (
              <MetadataField link={link} />
            ) : (
              <>
                {isDonation && <DonationFields link={link} asset={link.asset} />}
                <EndFields link={link} isDonation={isDonation} />
                <PayerFields link={link} />
              </>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

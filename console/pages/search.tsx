/** What one text finds: an address, a transaction, an event, a delivery, a customer. Console C16. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { go, hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Code, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { looksSecret, words } from '../ui/text.ts';

type Hit = ReplyOf<'search'>['content'][number];

/** Where a hit is shown; a delivery is a row of those of its kind. */
function hrefOfHit(scope: PageProps['scope'], { kind, id, text }: Hit): string {
  if (kind === 'event') return hrefOf(scope, `/events/${id}`);
  if (kind === 'address') return hrefOf(scope, `/addresses/${id}`);
  if (kind === 'paymentLink') return hrefOf(scope, `/payment-links/${id}`);
  if (kind === 'payment') return hrefOf(scope, `/payments/${id}`);
  if (kind === 'invoice') return hrefOf(scope, `/invoices/${id}`);
  if (kind === 'deposit' || kind === 'withdrawal') return hrefOf(scope, `/transactions/${id}`);
  return hrefOf(scope, '/deliveries', { event: kind === 'delivery' ? text : undefined });
}

const isEmail = (text: string): boolean => text.includes('@');
const isHash = (text: string): boolean => /^(?:0x)?[0-9a-f]{64}$/i.test(text);

export function Search({ scope }: PageProps): JSX.Element {
  const { q = '', txid = '' } = place.value.query;
  const asked = (txid === '' ? q : txid).trim();
  const mayBeKey = txid === '' && isHash(asked);
  const isRefused = asked === '' || looksSecret(asked) || mayBeKey;
  const query = txid === '' ? { q: asked } : { txid: asked };
  return (
    <>
      <Head title="Search" note={isRefused ? undefined : <>Everything that “{asked.slice(0, 80)}” names here</>} />
      {mayBeKey ? (
        <Empty
          title="This may be a private key"
          action={
            <a class="button" href={hrefOf(scope, '/search', { txid: asked })}>
              It is a transaction id: look for it
            </a>
          }
        >
          64 hex digits are a transaction id or a key. A key must not be sent anywhere, so nothing was sent.
        </Empty>
      ) : isRefused ? (
        <Empty title={asked === '' ? 'Nothing to look for yet' : 'This looks like a recovery phrase or a private key'}>
          {asked === ''
            ? 'Give an address, a transaction id, an id (adr_, dep_, txn_, evt_, dlv_, lnk_, pay_, inv_), a customer, how a label begins, or the email of a member.'
            : 'It was not sent. Somebody may have seen it on this screen: move its funds to a new one.'}
        </Empty>
      ) : (
        <>
          <Found key={asked} scope={scope} query={query} mayMove={!isEmail(asked)} />
          {isEmail(asked) && <People key={`people ${asked}`} scope={scope} email={asked} />}
        </>
      )}
    </>
  );
}

/** Members whose email has the text in it; a customer may be called by an email too. */
function People({ scope, email }: Pick<PageProps, 'scope'> & { email: string }): JSX.Element {
  const read = useRead('listMembers', scope, { query: { email } });
  return (
    <Panel title="Members">
      <Shown read={read} rows={2}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="No member has this email">Customers and labels are above.</Empty>
          ) : (
            <Table
              caption="Members"
              rows={content}
              keyOf={({ userId }) => userId}
              columns={[
                {
                  name: 'Email',
                  cell: (member) => (
                    <a href={hrefOf(scope, '/members', { email: member.email })}>
                      <Text of={member.email} />
                    </a>
                  ),
                },
                { name: 'Role', cell: ({ role }) => words(role) },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

function Found({
  scope,
  query,
  mayMove,
}: Pick<PageProps, 'scope'> & {
  query: { q: string } | { txid: string };
  /** Whether the only hit is opened at once. */
  mayMove: boolean;
}): JSX.Element {
  const read = useRead('search', scope, { query });
  const { data } = read;
  const only = mayMove && data?.content.length === 1 ? data.content[0]! : null;
  useEffect(() => {
    if (only !== null) go(hrefOfHit(scope, only), { replace: true });
  }, [only]);
  return (
    <Panel>
      <Shown read={read}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="Nothing here is called so">
              Whole addresses, ids and customers are found, and labels by how they begin; not parts of them. The other
              environment is searched by itself.
            </Empty>
          ) : (
            <Table
              caption="Found"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'What', cell: ({ kind }) => words(kind.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)) },
                { name: 'Text', cell: (hit) => <Code of={hit.text} href={hrefOfHit(scope, hit)} /> },
                { name: 'Chain', cell: ({ chain }) => chain ?? '–' },
                { name: 'Status', cell: ({ status }) => (status === null ? '–' : <Status of={status} />) },
                { name: 'Customer', cell: ({ userRef }) => <Text of={userRef} /> },
                { name: 'Label', wideOnly: true, cell: ({ label }) => <Text of={label} /> },
                { name: 'Made', wideOnly: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

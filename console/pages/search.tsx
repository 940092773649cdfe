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
  if (kind === 'deposit' || kind === 'withdrawal') return hrefOf(scope, `/transactions/${id}`);
  return hrefOf(scope, '/deliveries', { event: kind === 'delivery' ? text : undefined });
}

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
            ? 'Give an address, a transaction id, an id (adr_, dep_, txn_, evt_, dlv_), a customer, or how a label begins.'
            : 'It was not sent. Somebody may have seen it on this screen: move its funds to a new one.'}
        </Empty>
      ) : (
        <Found key={asked} scope={scope} query={query} />
      )}
    </>
  );
}

function Found({ scope, query }: Pick<PageProps, 'scope'> & { query: { q: string } | { txid: string } }): JSX.Element {
  const read = useRead('search', scope, { query });
  const { data } = read;
  const only = data?.content.length === 1 ? data.content[0]! : null;
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

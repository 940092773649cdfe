/** Links that ask for money. payments P8. */
import type { JSX } from 'preact';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import { LINK_MODES, LINK_STATUSES } from '../../protocol/slugs.ts';
import { hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Amount, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Pager, Table, TextFilter } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { queryOf } from './addresses.tsx';
import { CHAIN_OPTIONS, CreateLink, NotActive } from './payment-parts.tsx';
import { asksFor } from './payment-words.ts';

const FILTERS = ['status', 'mode', 'chain', 'slug', 'after'] as const;

export function PaymentLinks({ scope }: PageProps): JSX.Element {
  const query = queryOf(FILTERS);
  const read = useRead('listPaymentLinks', scope, { query: query as never }, { live: true });
  const isFiltered = FILTERS.some((name) => place.value.query[name] !== undefined);
  const create = <CreateLink scope={scope} />;
  return (
    <>
      <Head
        title="Payment links"
        note="Each asks for one asset on one network, and has a page of its own."
        actions={create}
      />
      <NotActive scope={scope} />
      <div class="filters">
        <Filter name="status" label="Status" options={LINK_STATUSES.map((one) => [one, words(one)])} />
        <Filter name="mode" label="Kind" options={LINK_MODES.map((one) => [one, words(one)])} />
        <Filter name="chain" label="Network" options={CHAIN_OPTIONS} />
        <TextFilter name="slug" label="Name in the address" />
      </div>
      <Panel>
        <Shown read={read} rows={10}>
          {(page) =>
            page.content.length === 0 ? (
              isFiltered ? (
                <Empty title="No link matches these filters" />
              ) : (
                <Empty title="No payment link yet" action={create}>
                  A link asks for a fixed amount, once, or for donations. Payers open its page, or you put it into
                  yours.
                </Empty>
              )
            ) : (
              <>
                <Table
                  caption="Payment links"
                  live={JSON.stringify(query)}
                  rows={page.content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'Link',
                      cell: ({ id, title, slug }) => (
                        <a href={hrefOf(scope, `/payment-links/${id}`)}>
                          <Text of={title ?? slug} />
                        </a>
                      ),
                    },
                    { name: 'Asks for', cell: (link) => <span class="amount">{asksFor(link)}</span> },
                    { name: 'Network', cell: ({ chain }) => NETWORK_NAMES[chain] },
                    { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                    {
                      name: 'Raised',
                      align: 'right',
                      cell: ({ amountRaised, asset }) => <Amount value={amountRaised} symbol={asset} />,
                    },
                    { name: 'Paid', align: 'right', cell: ({ paymentCount }) => paymentCount, wideOnly: true },
                    { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  ]}
                />
                <Pager of={page} what="links" />
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

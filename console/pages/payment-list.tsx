/** Payments towards all links of the account. */
import type { JSX } from 'preact';
import { place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Head, Panel } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Pager } from '../ui/table.tsx';
import { queryOf } from './addresses.tsx';
import { CreateLink, NotActive, PAYMENT_OPTIONS, PaymentTable } from './payment-parts.tsx';

const FILTERS = ['status', 'after'] as const;

export function Payments({ scope }: PageProps): JSX.Element {
  const query = queryOf(FILTERS);
  const read = useRead('listPayments', scope, { query: query as never }, { live: true });
  const { status } = place.value.query;
  const create = <CreateLink scope={scope} />;
  return (
    <>
      <Head
        title="Payments"
        note="What payers sent towards your links. Only “Confirmed” marks an order as paid."
        actions={create}
      />
      <NotActive scope={scope} />
      <div class="filters">
        <Filter name="status" label="Status" options={PAYMENT_OPTIONS} all="Received something" />
      </div>
      <Panel>
        <Shown read={read} rows={10}>
          {(page) =>
            page.content.length === 0 ? (
              status === undefined ? (
                <Empty title="No money came yet" action={create}>
                  Make a link and send it to who pays. Those who opened one and did not pay yet are under “Awaiting
                  payment”.
                </Empty>
              ) : (
                <Empty title="No payment matches this filter" />
              )
            ) : (
              <>
                <PaymentTable scope={scope} rows={page.content} live={JSON.stringify(query)} />
                <Pager of={page} what="payments" />
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

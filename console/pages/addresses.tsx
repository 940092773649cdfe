/** The list of addresses, and issuing one. */
import type { JSX } from 'preact';
import { ADDRESS_STATUSES, CHAINS, type Chain } from '../../protocol/slugs.ts';
import { ask, may } from '../app/ask.ts';
import { filter, go, hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Pager, Table, TextFilter } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

export const CHAIN_OPTIONS = CHAINS.map((chain) => [chain, chain] as const);
const FILTERS = ['chain', 'status', 'userRef', 'tag', 'after'] as const;

/** Filters of the address as the query of a list. */
export function queryOf(names: readonly string[]): Record<string, string> {
  const { query } = place.value;
  return {
    size: '50',
    ...Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]]))),
  };
}

export function Addresses({ scope }: PageProps): JSX.Element {
  const read = useRead('listAddresses', scope, { query: queryOf(FILTERS) as never }, { live: true });
  const isFiltered = FILTERS.some((name) => place.value.query[name] !== undefined);
  const create = may('editor') && (
    <button type="button" class="button primary" onClick={() => filter({ new: '1' })}>
      Issue an address
    </button>
  );
  return (
    <>
      <Head title="Addresses" note="Every deposit to them is watched for and announced." actions={create} />
      <div class="filters">
        <Filter name="chain" label="Chain" options={CHAIN_OPTIONS} />
        <Filter name="status" label="Status" options={ADDRESS_STATUSES.map((one) => [one, words(one)])} />
        <TextFilter name="userRef" label="Customer" />
        <TextFilter name="tag" label="Tag" />
      </div>
      <Panel>
        <Shown read={read} rows={10}>
          {(page) =>
            page.content.length === 0 ? (
              isFiltered ? (
                <Empty title="No address matches these filters" />
              ) : (
                <Empty title="No address yet" action={create}>
                  An address belongs to one customer of yours, whom you name with a reference of your own.
                </Empty>
              )
            ) : (
              <>
                <Table
                  caption="Addresses"
                  live={JSON.stringify(queryOf(FILTERS))}
                  rows={page.content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'Address',
                      cell: ({ id, address }) => <Code of={address} href={hrefOf(scope, `/addresses/${id}`)} />,
                    },
                    { name: 'Chain', cell: ({ chain }) => chain },
                    { name: 'Customer', cell: ({ userRef }) => <Text of={userRef} /> },
                    { name: 'Label', cell: ({ label }) => <Text of={label} />, wideOnly: true },
                    { name: 'Tag', cell: ({ tag }) => <Text of={tag} />, wideOnly: true },
                    { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                    { name: 'Issued', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  ]}
                />
                <Pager of={page} what="addresses" />
              </>
            )
          }
        </Shown>
      </Panel>
      {place.value.query['new'] !== undefined && may('editor') && <Issue scope={scope} />}
    </>
  );
}

function Issue({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const close = (): void => filter({ new: undefined });
  const sending = useSend(
    ({ chain, userRef = '', label = '', tag = '' }, idempotencyKey) =>
      ask('createAddress', scope, {
        idempotencyKey,
        body: { chain: chain as Chain, userRef, ...(label === '' ? {} : { label }), ...(tag === '' ? {} : { tag }) },
      }),
    ({ id }) => {
      readAgain('listAddresses');
      go(hrefOf(scope, `/addresses/${id}`));
    },
  );
  return (
    <Dialog title={`Issue an address in ${scope.environment}`} onClose={close}>
      <Form sending={sending} label="Issue" onCancel={close}>
        <Choice label="Chain" name="chain" options={CHAIN_OPTIONS} value="eth" />
        <Field
          label="Customer"
          name="userRef"
          required
          maxLength={255}
          autofocus
          hint="Your own name of the customer. It comes back with every webhook."
        />
        <Field label="Label" name="label" maxLength={200} hint="For people; may be left empty." />
        <Field label="Tag" name="tag" maxLength={100} hint="For filters; may be left empty." />
      </Form>
    </Dialog>
  );
}

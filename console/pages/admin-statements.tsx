/** Statements of an account, and what was paid of them. Console B17. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor } from '../app/ask.ts';
import { filter, place } from '../app/location.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Amount, Head, Panel, Status, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

type Statement = ReplyOf<'listAccountStatements'>['content'][number];

export function Statements(): JSX.Element {
  const { account } = place.value.query;
  const look = useSend(
    async ({ accountId = '' }) => {
      filter({ account: accountId.trim() });
      return null;
    },
    () => undefined,
  );
  return (
    <>
      <Head title="Statements" note="What an account owes, and what was paid of it." />
      <Panel title="Account">
        <Form inline sending={look} label="Show its statements">
          <Field
            label="Account"
            name="accountId"
            required
            value={account ?? ''}
            placeholder="org_…_live"
            pattern="\s*org_[a-z2-7]{26}_(live|sandbox)\s*"
          />
        </Form>
      </Panel>
      {account !== undefined && <OfAccount key={account} accountId={account} />}
    </>
  );
}

function OfAccount({ accountId }: { accountId: string }): JSX.Element {
  const read = useRead('listAccountStatements', null, { params: { accountId } });
  const [shown, setShown] = useState<Statement | null>(null);
  return (
    <Panel title="Statements" note="Newest first">
      <Shown read={read}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="No statement yet">The first one is made after the first month on a band.</Empty>
          ) : (
            <Table
              caption="Statements"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Number', cell: ({ number }) => number },
                { name: 'Month', cell: ({ period }) => period },
                {
                  name: 'Total',
                  align: 'right',
                  cell: ({ total, currency }) => <Amount value={total} symbol={currency} />,
                },
                {
                  name: 'Paid',
                  align: 'right',
                  cell: ({ paid, currency }) => <Amount value={paid} symbol={currency} />,
                },
                {
                  name: 'Left',
                  align: 'right',
                  cell: ({ left, currency }) => <Amount value={left} symbol={currency} />,
                },
                { name: 'Due', cell: ({ dueAt }) => <Time at={dueAt} /> },
                {
                  name: 'Collection',
                  cell: (statement) =>
                    statement.left === '0.00' ? (
                      <Status of="active" label="Paid" />
                    ) : (
                      <button type="button" class="button small" onClick={() => setShown(statement)}>
                        Record
                      </button>
                    ),
                },
              ]}
            />
          )
        }
      </Shown>
      {shown !== null && <Collect accountId={accountId} statement={shown} close={() => setShown(null)} />}
    </Panel>
  );
}

function Collect({
  accountId,
  statement: { id, number, left, currency },
  close,
}: {
  accountId: string;
  statement: Statement;
  close: () => void;
}): JSX.Element {
  const sending = useSend(
    ({ amount = '', reason = '', reference = '' }) =>
      askWithFactor('You record that a customer paid.', 'recordCollection', null, () => ({
        params: { accountId, id },
        body: { amount: amount.trim(), reason: reason.trim(), reference: reference.trim() },
      })),
    () => {
      readAgain('listAccountStatements');
      close();
    },
  );
  return (
    <Dialog title={`What was paid of ${number}`} onClose={close}>
      <Form sending={sending} label="Record it" onCancel={close}>
        <Field
          label={`Amount (${currency})`}
          name="amount"
          required
          value={left}
          inputMode="decimal"
          pattern="\s*(0|[1-9][0-9]{0,12})\.[0-9]{2}\s*"
          hint="Two decimals; a part of what is left, or all of it."
        />
        <Field label="Where it came in" name="reason" required maxLength={200} hint="For the books." />
        <Field
          label="Reference of the payment"
          name="reference"
          required
          maxLength={100}
          hint="Its own, once for each statement: recorded again, it counts once."
        />
      </Form>
    </Dialog>
  );
}

/** Statements of the account: what was billed, line by line. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask } from '../app/ask.ts';
import { filter, hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Bars } from '../ui/chart.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Instant, Panel } from '../ui/parts.tsx';
import { save } from '../ui/secret.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Steps, Table } from '../ui/table.tsx';
import { grouped, utc, words } from '../ui/text.ts';

type Statement = ReplyOf<'getStatement'>;
type Line = Statement['lines'][number];

export function Statements({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const read = useRead('listStatements', scope);
  return (
    <Panel title="Statements" note="Made on the first of the month, for the month before">
      <Shown read={read} rows={3}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="No statement yet">The first one comes after the first month on a band.</Empty>
          ) : (
            <>
              {content.length > 1 && (
                <Bars
                  caption="Settled withdrawals by month"
                  what="Withdrawals"
                  bars={content.toReversed().map(({ period, settledTransactions }) => ({
                    label: period,
                    value: settledTransactions,
                    shown: grouped(String(settledTransactions)),
                  }))}
                />
              )}
              <Table
                caption="Statements"
                rows={content}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Number',
                    cell: (statement) => (
                      <button type="button" class="link" onClick={() => filter({ statement: statement.id })}>
                        {statement.number}
                      </button>
                    ),
                  },
                  { name: 'Month', cell: ({ period }) => period },
                  {
                    name: 'Settled',
                    align: 'right',
                    cell: ({ settledTransactions }) => grouped(String(settledTransactions)),
                  },
                  { name: 'Total', align: 'right', cell: ({ total, currency }) => `${grouped(total)} ${currency}` },
                  {
                    name: 'Left to pay',
                    align: 'right',
                    cell: ({ left, currency }) => (left === '0.00' ? 'Paid' : `${grouped(left)} ${currency}`),
                  },
                  { name: 'Issued', cell: ({ issuedAt }) => utc(issuedAt) },
                ]}
              />
              {content
                .filter(({ id }) => id === place.value.query['statement'])
                .map((statement) => (
                  <Whole key={statement.id} scope={scope} statement={statement} />
                ))}
            </>
          )
        }
      </Shown>
    </Panel>
  );
}

/** What a line is for, in words. */
function lineWords(line: Line): string {
  if (line.kind === 'base') return `Base fee, ${words(line.tier)} ${line.band}`;
  if (line.kind === 'proration')
    return `From ${words(line.from.tier)} ${line.from.band} to ${words(line.to.tier)} ${line.to.band}, for the rest of the month from ${utc(line.at)}`;
  return `${grouped(String(line.quantity))} withdrawals above ${grouped(String(line.included))} at ${line.rate} (${line.band})`;
}

/** The statement as a file. */
function Files({ scope, statement: { id, number } }: Pick<PageProps, 'scope'> & { statement: Statement }): JSX.Element {
  const get = (format: 'csv' | 'html') => () => ask('exportStatement', scope, { params: { id }, query: { format } });
  const csv = useSend<unknown>(get('csv'), (text) => save(String(text), `${number}.csv`));
  const html = useSend<unknown>(get('html'), (text) => save(String(text), `${number}.html`));
  return (
    <>
      <Form sending={csv} label="Save as CSV" inline />
      <Form sending={html} label="Save to print" inline />
    </>
  );
}

/** How it is paid, where something is left to pay. */
function HowToPay({ statement: { number, left, currency, dueAt, payment } }: { statement: Statement }): JSX.Element {
  return (
    <Facts
      rows={[
        ['Left to pay', `${grouped(left)} ${currency}`],
        ['Due', <Instant at={dueAt} />],
        ...(payment.page === null
          ? []
          : [
              [
                'By card or bank',
                <a class="break" href={payment.page} target="_blank" rel="noreferrer">
                  Pay at {new URL(payment.page).host}
                </a>,
              ] as const,
            ]),
        ...(payment.bankDetails === null ? [] : [['By transfer', `${payment.bankDetails}, naming ${number}`] as const]),
      ]}
    />
  );
}

/** What the statement counts: each settled withdrawal of its month. */
function Billed({ scope, id }: Pick<PageProps, 'scope'> & { id: string }): JSX.Element {
  const { after } = place.value.query;
  const read = useRead('listBilled', scope, {
    params: { id },
    query: { size: '50', ...(after === undefined ? {} : { after }) },
  });
  return (
    <Shown read={read} rows={3}>
      {({ content, next }) => (
        <>
          <Table
            caption="Settled withdrawals of the month"
            rows={content}
            keyOf={({ transactionId, counted }) => `${transactionId} ${counted}`}
            columns={[
              { name: 'Built', cell: ({ createdAt }) => utc(createdAt) },
              { name: 'Chain', cell: ({ chain }) => chain },
              { name: 'Counted', cell: ({ counted }) => (counted === 1 ? 'Settled' : 'Failed after all: one less') },
              {
                name: 'Id',
                cell: ({ transactionId }) => (
                  <Code of={transactionId} href={hrefOf(scope, `/transactions/${transactionId}`)} />
                ),
              },
            ]}
          />
          <Steps next={next} what="settled withdrawals">
            Settled withdrawals
          </Steps>
        </>
      )}
    </Shown>
  );
}

function Whole({ scope, statement }: Pick<PageProps, 'scope'> & { statement: Statement }): JSX.Element {
  const close = (): void => filter({ statement: undefined, show: undefined });
  const rows = statement.lines.map((line, at) => ({ line, at }));
  return (
    <Dialog title={`Statement ${statement.number}`} onClose={close} wide>
      <p>
        {statement.period}, in UTC. Issued <Instant at={statement.issuedAt} />
      </p>
      <Table
        caption="Lines"
        rows={rows}
        keyOf={({ at }) => String(at)}
        columns={[
          {
            name: 'For',
            cell: ({ line }) =>
              line.kind === 'overage' ? (
                <a class="break" href={hrefOf(scope, `/billing?statement=${statement.id}&show=transactions`)}>
                  {lineWords(line)}
                </a>
              ) : (
                <span class="break">{lineWords(line)}</span>
              ),
          },
          { name: `Amount (${statement.currency})`, align: 'right', cell: ({ line }) => grouped(line.amount) },
        ]}
      />
      <p class="figure total">
        {grouped(statement.total)} {statement.currency}
      </p>
      {statement.left !== '0.00' && <HowToPay statement={statement} />}
      {place.value.query['show'] === 'transactions' && <Billed scope={scope} id={statement.id} />}
      <Files scope={scope} statement={statement} />
    </Dialog>
  );
}

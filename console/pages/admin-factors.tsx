/** Resets of the factors of people who lost all of theirs: one administrator asks, another confirms. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor } from '../app/ask.ts';
import { place } from '../app/location.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Head, Panel, Status, Text, Time, type Tone } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Steps, Table } from '../ui/table.tsx';

type Reset = ReplyOf<'listFactorResets'>['content'][number];
const toneOf = ({ status, endedAt }: Reset): Tone => (endedAt === null ? 'warn' : status === 'done' ? 'good' : 'quiet');
const again = (): void => readAgain('listFactorResets');

export function FactorResets(): JSX.Element {
  const { after } = place.value.query;
  const read = useRead('listFactorResets', null, { query: after === undefined ? {} : { after } }, { live: true });
  const asking = useSend(
    ({ email = '', reason = '' }) =>
      askWithFactor('You ask that every factor of a person be taken away.', 'askFactorReset', null, () => ({
        body: { email: email.trim(), reason: reason.trim() },
      })),
    again,
  );
  return (
    <>
      <Head
        title="Factor resets"
        note="For people who lost every second factor. Another administrator confirms; it happens 72 hours later."
      />
      <Panel title="Ask" note="The person is mailed at once, and can take it back">
        <Form sending={asking} label="Ask for it">
          <Field label="Email" name="email" type="email" required maxLength={254} autocomplete="off" />
          <Field
            label="Reason"
            name="reason"
            required
            maxLength={500}
            hint="How you know who asks. The person reads it."
          />
        </Form>
      </Panel>
      <Panel title="Asked for">
        <Shown read={read}>
          {({ content, next }) =>
            content.length === 0 ? (
              <Empty title="None">Nobody has lost all of their factors.</Empty>
            ) : (
              <>
                <Table
                  caption="Resets of factors"
                  rows={content}
                  keyOf={({ id }) => id}
                  columns={[
                    { name: 'Person', cell: ({ email }) => <Text of={email} /> },
                    { name: 'State', cell: (reset) => <Status of={reset.status} tone={toneOf(reset)} /> },
                    { name: 'Reason', cell: ({ reason }) => <Text of={reason} />, wideOnly: true },
                    { name: 'Asked by', cell: ({ askedBy }) => <Text of={askedBy} /> },
                    { name: 'Confirmed by', cell: ({ confirmedBy }) => <Text of={confirmedBy ?? '–'} /> },
                    { name: 'Happens', cell: ({ dueAt }) => <Time at={dueAt} /> },
                    { name: 'Over', cell: ({ endedAt }) => <Time at={endedAt} />, wideOnly: true },
                    { name: 'Decision', cell: (reset) => <Decision {...reset} /> },
                  ]}
                />
                <Steps next={next} what="resets">
                  {content.length} shown
                </Steps>
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

function Decision({ id, status }: Reset): JSX.Element | null {
  const call = () => ({ params: { id } });
  const confirm = useSend(
    () => askWithFactor('Every factor of a person is taken away in 72 hours.', 'confirmFactorReset', null, call),
    again,
  );
  const cancel = useSend(() => askWithFactor('The factors of a person stay.', 'cancelFactorReset', null, call), again);
  if (status !== 'asked' && status !== 'scheduled') return null;
  return (
    <>
      {status === 'asked' && <Form inline sending={confirm} label="Confirm" danger />}
      <Form inline sending={cancel} label="Take it back" />
    </>
  );
}

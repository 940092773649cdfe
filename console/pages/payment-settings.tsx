/** Whether payments are taken, and what payers see of the merchant. payments P24. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { answeredBy, Area, Choice, Field, Form, Tick, useSend } from '../ui/form.tsx';
import { Facts, Head, Panel, Status, Text } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { plain } from '../ui/text.ts';
import { bpsOf, percentTextOf, settingsOf } from './payment-words.ts';

type Settings = ReplyOf<'getPaymentSettings'>;

/** In which the page of payers is written. payments H15. */
const LANGUAGES = [
  ['en', 'English'],
  ['de', 'Deutsch'],
  ['fr', 'Français'],
  ['es', 'Español'],
  ['pt', 'Português'],
  ['it', 'Italiano'],
  ['nl', 'Nederlands'],
  ['pl', 'Polski'],
  ['tr', 'Türkçe'],
  ['ru', 'Русский'],
  ['uk', 'Українська'],
  ['zh-Hans', '简体中文'],
  ['ja', '日本語'],
  ['ko', '한국어'],
  ['vi', 'Tiếng Việt'],
  ['id', 'Bahasa Indonesia'],
  ['hi', 'हिन्दी'],
  ['ar', 'العربية'],
  ['he', 'עברית'],
  ['fa', 'فارسی'],
] as const;

export function PaymentSettings({ scope }: PageProps): JSX.Element {
  const read = useRead('getPaymentSettings', scope);
  return (
    <>
      <Head
        title="Payment settings"
        note={`Whether payments are taken in ${scope.environment}, and who asks for them.`}
      />
      <Shown read={read} rows={8}>
        {(settings) =>
          may('owner') ? (
            <Change key={read.atMs} scope={scope} settings={settings} />
          ) : (
            <Panel title="Set by owners of the organization">
              <Known settings={settings} />
            </Panel>
          )
        }
      </Shown>
    </>
  );
}

function Known({ settings }: { settings: Settings }): JSX.Element {
  const { active, displayName, supportEmail, supportUrl, origins, toleranceBps, timeZone, language, invoice } =
    settings;
  return (
    <Facts
      rows={[
        ['Payments', <Status of={active ? 'active' : 'disabled'} label={active ? 'Taken' : 'Switched off'} />],
        ['Name', <Text of={displayName} />],
        ['Support', <Text of={[supportEmail, supportUrl].filter((one) => one !== null).join(' · ')} />],
        ['Pages with the element', origins.length === 0 ? 'None' : origins.map(plain).join(', ')],
        ['Accepted shortfall', `${percentTextOf(toleranceBps)} %`],
        ['Time zone', timeZone],
        ['Language', LANGUAGES.find(([slug]) => slug === language)?.[1] ?? language],
        ['On invoices', <Text of={[invoice.name, invoice.address, invoice.taxId].filter(Boolean).join(' · ')} />],
      ]}
    />
  );
}

function Change({ scope, settings }: Pick<PageProps, 'scope'> & { settings: Settings }): JSX.Element {
  const [said, setSaid] = useState('');
  const sending = useSend(
    async (values, idempotencyKey) => {
      const toleranceBps = bpsOf(values['toleranceBps'] ?? '0');
      if (isRefusal(toleranceBps)) return answeredBy(toleranceBps);
      const body = { ...settingsOf(values), toleranceBps };
      return askWithFactor('Pages of other origins may show your checkout.', 'putPaymentSettings', scope, () => ({
        idempotencyKey,
        body,
      }));
    },
    ({ active }) => {
      setSaid(active ? 'Saved. Payments are taken.' : 'Saved. Payments are switched off.');
      readAgain('getPaymentReadiness');
    },
  );
  return (
    <Form sending={sending} label="Save">
      <Panel title="Payments">
        <div class="stack">
          <Tick
            label="Take payments"
            name="active"
            checked={settings.active}
            hint="Off: no link is made and payers open nothing. What is open goes on, and money is counted."
          />
          <Field
            label="Name that payers see"
            name="displayName"
            maxLength={120}
            value={settings.displayName ?? ''}
            hint="Needed to take payments."
          />
          <div class="pair">
            <Field
              label="E-mail of your support"
              name="supportEmail"
              type="email"
              maxLength={254}
              value={settings.supportEmail ?? ''}
              hint="For payers whose money is short, late or too much."
            />
            <Field
              label="Page of your support"
              name="supportUrl"
              type="url"
              maxLength={2_048}
              value={settings.supportUrl ?? ''}
            />
          </div>
          <Choice
            label="Language of the page"
            name="language"
            value={settings.language}
            options={LANGUAGES}
            hint="Where the payer's browser names none."
          />
        </div>
      </Panel>
      <Panel title="Rules">
        <div class="stack">
          <Field
            label="Accepted shortfall of fixed amounts (%)"
            name="toleranceBps"
            inputMode="decimal"
            pattern="[0-9]([.,][0-9]{1,2})?"
            title="0 to 5, with two decimals at most"
            value={percentTextOf(settings.toleranceBps)}
            hint="0 to 5. With 1, a payment of 99 completes an order of 100: for exchanges that keep their fee."
          />
          <Area
            label="Origins whose pages may have the element"
            name="origins"
            rows={3}
            value={settings.origins.join('\n')}
            placeholder="https://example.com"
            hint={`One a line, exactly as the browser names it, at most 50. ${scope.environment === 'live' ? 'Another list needs your second factor.' : 'In the sandbox pages of localhost by plain http too.'}`}
          />
        </div>
      </Panel>
      <Panel title="Invoices" note="Each keeps what was set when it was issued">
        <div class="stack">
          <Field label="Your name" name="name" maxLength={200} value={settings.invoice.name ?? ''} />
          <Area label="Your address" name="address" rows={3} maxLength={500} value={settings.invoice.address ?? ''} />
          <div class="pair">
            <Field label="Tax number" name="taxId" maxLength={100} value={settings.invoice.taxId ?? ''} />
            <Field
              label="Time zone"
              name="timeZone"
              maxLength={64}
              value={settings.timeZone}
              hint="Of the year in their numbers, such as Europe/Berlin."
            />
          </div>
        </div>
      </Panel>
      <p class="said" role="status">
        {said}
      </p>
    </Form>
  );
}

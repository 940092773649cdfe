/** What is one's own: the second factor and the theme. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import { ask, askWithFactor } from '../app/ask.ts';
import { signedIn } from '../app/session.ts';
import { chooseTheme, chosenTheme, THEMES, type Theme } from '../app/theme.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Head, Panel, Text } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { useRead } from '../app/read.ts';
import { NewPassword } from './by-letter.tsx';
import { Qr } from '../ui/qr.tsx';
import { words } from '../ui/text.ts';
import { Logins } from './logins.tsx';

export function Profile(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(chosenTheme());
  return (
    <>
      <Head title="Profile" />
      <div class="columns">
        <Account />
        <SecondFactor />
        <Panel title="Theme" note="Kept in this browser">
          <Choice
            label="Theme"
            name="theme"
            options={THEMES.map((one) => [one, words(one)] as const)}
            value={theme}
            onChange={(chosen) => {
              setTheme(chosen as Theme);
              chooseTheme(chosen as Theme);
            }}
          />
        </Panel>
      </div>
      <Logins />
    </>
  );
}

function Account(): JSX.Element {
  const me = useRead('getMe', null);
  const [said, setSaid] = useState<string | null>(null);
  const password = useSend(
    ({ current = '', password: next = '' }) =>
      askWithFactor('Your password is changed.', 'changePassword', null, () => ({
        body: { password: next, ...(current === '' ? {} : { current }) },
      })),
    () => setSaid('The password is changed, and other browsers are signed out.'),
  );
  const email = useSend(
    ({ email: next = '' }) =>
      askWithFactor(
        'Your email is changed when the link in the new mailbox is opened.',
        'changeEmail',
        null,
        (code) => ({ body: { email: next.trim(), ...(code === undefined ? {} : { totp: code }) } }),
        { inBody: true },
      ),
    () => setSaid('A letter is on its way to the new mailbox. Its link makes the change.'),
  );
  return (
    <Panel title="Sign-in">
      <Shown read={me} rows={1}>
        {(who) => (
          <p>
            You sign in as <Text of={who.email} />.
          </p>
        )}
      </Shown>
      <details>
        <summary>Change the password</summary>
        <Form sending={password} label="Change the password">
          <Field label="Present password" name="current" type="password" autocomplete="current-password" required />
          <NewPassword label="New password" />
        </Form>
      </details>
      <details>
        <summary>Change the email</summary>
        <Form sending={email} label="Change the email">
          <Field label="New email" name="email" type="email" autocomplete="email" required maxLength={254} />
        </Form>
      </details>
      <p class="said" role="status">
        {said}
      </p>
    </Panel>
  );
}

function SecondFactor(): JSX.Element {
  const [begun, setBegun] = useState<{ secret: string; otpauthUri: string } | null>(null);
  const [isDone, setDone] = useState(false);
  const begin = useSend(
    () => askWithFactor('A new device takes the place of the one you have.', 'enrolTotp', null, () => ({})),
    (made) => {
      setDone(false);
      setBegun(made);
    },
  );
  const confirm = useSend(
    async ({ totp = '' }) => {
      const answer = await ask('confirmTotp', null, { body: { totp: totp.replace(/\s/g, '') } });
      if (!isRefusal(answer.outcome)) signedIn(answer.outcome);
      return answer;
    },
    () => {
      setBegun(null);
      setDone(true);
    },
  );
  return (
    <Panel title="Second factor" note="Codes of an authenticator app">
      {begun === null ? (
        <>
          <p>Making API keys and deciding rotations need one.</p>
          <Form sending={begin} label="Set up an authenticator app" />
        </>
      ) : (
        <>
          <div class="address-card">
            <Qr text={begun.otpauthUri} label="QR code for the authenticator app" />
            <div>
              <p>Scan it, or type this secret into the app. It is shown this once.</p>
              <Code of={begun.secret} whole />
            </div>
          </div>
          <Form sending={confirm} label="Confirm" onCancel={() => setBegun(null)}>
            <Field
              label="The code that it shows"
              name="totp"
              inputMode="numeric"
              autocomplete="one-time-code"
              pattern="[0-9 ]{6,7}"
              maxLength={7}
              required
              class="totp"
            />
          </Form>
        </>
      )}
      <p class="said" role="status">
        {isDone && 'The second factor is set up.'}
      </p>
    </Panel>
  );
}

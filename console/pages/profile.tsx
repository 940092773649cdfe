/** What is one's own: the second factor and the theme. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { askWithFactor } from '../app/ask.ts';
import { chooseTheme, chosenTheme, THEMES, type Theme } from '../app/theme.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Head, Panel, Text } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { useRead } from '../app/read.ts';
import { NewPassword } from './by-letter.tsx';
import { words } from '../ui/text.ts';
import { Logins } from './logins.tsx';
import { Passkeys } from './passkeys.tsx';
import { SecondFactor } from './second-factor.tsx';

export function Profile(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(chosenTheme());
  return (
    <>
      <Head title="Profile" />
      <div class="columns">
        <Account />
        <SecondFactor note="Codes of an authenticator app" />
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
      <Passkeys />
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

/** Sign-in: email and password, then the code where the person has a second factor. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answered } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { open, readOrganizations, signedIn } from '../app/session.ts';
import { Field, Form, useSend, type Values } from '../ui/form.tsx';
import { BASE } from '../app/location.ts';
import { Wordmark } from '../ui/wordmark.tsx';

const focusOn = (input: HTMLInputElement | null): void => input?.focus();
type Token = ReplyOf<'login'>;

export function SignIn({ ended }: { ended: boolean }): JSX.Element {
  const [wantsCode, setWantsCode] = useState(false);
  document.title = 'Sign in · Flock';
  const sending = useSend<Token>(
    async ({ email = '', password = '', totp = '' }: Values): Promise<Answered<Token> | null> => {
      const code = totp.replace(/\s/g, '');
      const answer = await open.ask('login', {
        body: { email: email.trim(), password, ...(code === '' ? {} : { totp: code }) },
      });
      const { outcome } = answer;
      const isAsked = isRefusal(outcome) && outcome.code === 'TOTP_REQUIRED' && outcome.details['reason'] === 'missing';
      if (isAsked && !wantsCode) {
        setWantsCode(true);
        return null;
      }
      return answer;
    },
    (token) => {
      signedIn(token);
      void readOrganizations();
    },
  );
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <Wordmark />
        <h1>Sign in</h1>
        {ended && (
          <p class="notice" role="status">
            Your sign-in ended. Sign in again and you are back where you were.
          </p>
        )}
        <Form sending={sending} label="Sign in">
          <Field label="Email" name="email" type="email" autocomplete="username" required autofocus maxLength={320} />
          <Field label="Password" name="password" type="password" autocomplete="current-password" required />
          {wantsCode && (
            <Field
              label="Code of your authenticator app"
              name="totp"
              inputMode="numeric"
              autocomplete="one-time-code"
              pattern="[0-9 ]{6,7}"
              maxLength={7}
              required
              autofocus
              class="totp"
              inputRef={focusOn}
            />
          )}
        </Form>
        <p>
          <a href={`${BASE}/forgot`}>Forgotten password</a> · <a href={`${BASE}/sign-up`}>Sign up</a>
        </p>
      </div>
    </main>
  );
}

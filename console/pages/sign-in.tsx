/** Sign-in: email and password, then the code where the person has a second factor. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answered } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { open, readOrganizations, signedIn } from '../app/session.ts';
import { FactorField, proofOf, type FactorBy } from '../ui/code-field.tsx';
import { Field, Form, useSend, type Values } from '../ui/form.tsx';
import { answerOf, hasPasskeys } from '../app/passkey.ts';
import { BASE } from '../app/location.ts';
import { Wordmark } from '../ui/wordmark.tsx';

type Token = ReplyOf<'login'>;

export function SignIn({ ended }: { ended: boolean }): JSX.Element {
  const [wants, setWants] = useState<FactorBy | null>(null);
  document.title = 'Sign in · Flock';
  const sending = useSend<Token>(
    async ({ email = '', password = '', ...rest }: Values): Promise<Answered<Token> | null> => {
      const answer = await open.ask('login', {
        body: {
          email: email.trim(),
          password,
          ...proofOf(rest),
        },
      });
      const { outcome } = answer;
      const isAsked = isRefusal(outcome) && outcome.code === 'TOTP_REQUIRED' && outcome.details['reason'] === 'missing';
      if (isAsked && wants === null) {
        const accepts = outcome.details['accepts'] as readonly string[] | undefined;
        setWants(accepts?.includes('totp') === false ? 'recoveryCode' : 'totp');
        return null;
      }
      return answer;
    },
    (token) => {
      signedIn(token);
      void readOrganizations();
    },
  );
  const byPasskey = useSend<Token>(
    async () => {
      const question = await open.ask('beginPasskeySignIn');
      if (isRefusal(question.outcome)) return { ...question, outcome: question.outcome };
      const passkey = await answerOf(question.outcome);
      return passkey === null ? null : open.ask('signInByPasskey', { body: { passkey } });
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
          {wants !== null && <FactorField first={wants} />}
        </Form>
        {hasPasskeys() && <Form inline sending={byPasskey} label="Sign in with a passkey" />}
        <p>
          <a href={`${BASE}/forgot`}>Forgotten password</a> · <a href={`${BASE}/sign-up`}>Sign up</a> ·{' '}
          <a href={`${BASE}/sso`}>Single sign-on</a>
        </p>
      </div>
    </main>
  );
}

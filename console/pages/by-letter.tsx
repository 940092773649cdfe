/**
 * Pages for people who are not signed in: sign-up, a forgotten password, and where the links of letters lead. A link's
 * token is in the fragment, is read once, taken out of the address, and spent by a button alone. Console A7, C4.
 */
import '../ui/together.ts';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Failed } from '../app/read.ts';
import { BASE, go } from '../app/location.ts';
import { open, readOrganizations, signedIn } from '../app/session.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Wordmark } from '../ui/wordmark.tsx';

const WORDS: Readonly<Record<string, string>> = {
  expired: 'This link is too old.',
  used: 'This link was used already.',
  replaced: 'A newer letter took the place of this one: open its link.',
  revoked: 'This link is no longer good.',
};

/** The token of the address, kept in memory alone from now on. */
let kept: { readonly path: string; readonly token: string } | null = null;
export function tokenHere(): string {
  const { hash, pathname } = window.location;
  if (hash.length > 1) {
    kept = { path: pathname, token: hash.slice(1) };
    history.replaceState(null, '', pathname);
  }
  return kept?.path === pathname ? kept.token : '';
}

export function Alone({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  document.title = `${title} · Flock`;
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <Wordmark />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

const ToSignIn = ({ label = 'To the sign-in' }: { label?: string }): JSX.Element => (
  <p>
    <a href={`${BASE}/`}>{label}</a>
  </p>
);

/** What became of a link, in words, and the way on. */
export function LinkFailure({ failed, again }: { failed: Failed | null; again: string | null }): JSX.Element | null {
  const { code, details } = failed?.refusal ?? {};
  const word = code === 'NOT_FOUND' ? 'This link is not whole.' : WORDS[String(details?.['reason'] ?? '')];
  if (failed === null || word === undefined) return null;
  return (
    <p class="notice warn" role="alert">
      {word} {again !== null && <a href={`${BASE}${again}`}>Have another letter sent</a>}
    </p>
  );
}

const Sent = (): JSX.Element => (
  <p class="notice" role="status">
    A letter is on its way, if this email takes one. Open the link in it. It may take a minute.
  </p>
);

function AskLetter({
  title,
  operation,
  note,
}: {
  title: string;
  operation: 'register' | 'forgotPassword';
  note: string;
}) {
  const [isSent, setSent] = useState(false);
  const sending = useSend(
    ({ email = '' }) => open.ask(operation, { body: { email: email.trim() } }),
    () => setSent(true),
  );
  const isClosed = sending.failed?.refusal.details['reason'] === 'sign_up';
  return (
    <Alone title={title}>
      {isSent ? (
        <Sent />
      ) : isClosed ? (
        <p class="notice warn" role="alert">
          Nobody signs up here by themselves. Ask an owner of your organization for an invitation.
        </p>
      ) : (
        <>
          <p>{note}</p>
          <Form sending={sending} label="Send the letter">
            <Field label="Email" name="email" type="email" autocomplete="username" required autofocus maxLength={254} />
          </Form>
        </>
      )}
      <ToSignIn />
    </Alone>
  );
}

export const SignUp = (): JSX.Element => (
  <AskLetter title="Sign up" operation="register" note="We send a link to your email; you set a password there." />
);
export const Forgot = (): JSX.Element => (
  <AskLetter title="Forgotten password" operation="forgotPassword" note="We send a link that is good for 30 minutes." />
);

export function NewPassword({ label = 'Password' }: { label?: string }): JSX.Element {
  return (
    <Field
      label={label}
      name="password"
      type="password"
      autocomplete="new-password"
      required
      hint="15 characters or more. Several words are fine."
    />
  );
}

export function Verify(): JSX.Element {
  const token = tokenHere();
  const sending = useSend(
    ({ password = '' }) => open.ask('verifyEmail', { body: { token, password } }),
    (reply) => {
      signedIn(reply);
      void readOrganizations();
      go(`${BASE}/`, { replace: true });
    },
  );
  return (
    <Alone title="Set your password">
      <LinkFailure failed={token === '' ? null : sending.failed} again="/sign-up" />
      <Form sending={sending} label="Set it and sign in">
        <NewPassword />
      </Form>
      <ToSignIn />
    </Alone>
  );
}

export function Reset(): JSX.Element {
  const token = tokenHere();
  const [isDone, setDone] = useState(false);
  const sending = useSend(
    ({ password = '' }) => open.ask('resetPassword', { body: { token, password } }),
    () => setDone(true),
  );
  if (isDone)
    return (
      <Alone title="The password is set">
        <p role="status">All browsers were signed out. Sign in with the new password.</p>
        <ToSignIn label="Sign in" />
      </Alone>
    );
  return (
    <Alone title="Set a new password">
      <LinkFailure failed={sending.failed} again="/forgot" />
      <Form sending={sending} label="Set it">
        <NewPassword label="New password" />
      </Form>
      <ToSignIn />
    </Alone>
  );
}

export function ConfirmEmail(): JSX.Element {
  const token = tokenHere();
  const [email, setEmail] = useState<string | null>(null);
  const sending = useSend(
    () => open.ask('confirmEmail', { body: { token } }),
    (reply) => setEmail(reply.email),
  );
  return (
    <Alone title="Your email">
      {email === null ? (
        <>
          <LinkFailure failed={sending.failed} again="/" />
          <p>Sign in with the email that this letter came about from now on.</p>
          <Form sending={sending} label="Confirm" />
        </>
      ) : (
        <p role="status">
          You sign in with <b>{email}</b> from now on.
        </p>
      )}
      <ToSignIn />
    </Alone>
  );
}

export function KeepFactors(): JSX.Element {
  const token = tokenHere();
  const [email, setEmail] = useState<string | null>(null);
  const sending = useSend(
    () => open.ask('keepFactors', { body: { token } }),
    (reply) => setEmail(reply.email),
  );
  return (
    <Alone title="Keep your factors">
      {email === null ? (
        <>
          <LinkFailure failed={sending.failed} again={null} />
          <p>It was asked that every second factor of your sign-in be taken away. Keep them, if you still have one.</p>
          <Form sending={sending} label="Keep them" />
        </>
      ) : (
        <p role="status">
          The second factors of <b>{email}</b> stay. If you did not know of this,{' '}
          <a href={`${BASE}/forgot`}>set a new password</a>.
        </p>
      )}
      <ToSignIn />
    </Alone>
  );
}

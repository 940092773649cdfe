/** Signing in by an identity provider: by the domain of an email, and what the provider led back with. Console A40, A42. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Answered } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { BASE, go } from '../app/location.ts';
import type { Failed } from '../app/read.ts';
import { open, readOrganizations, signedIn } from '../app/session.ts';
import { FactorField, proofOf } from '../ui/code-field.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Failure } from '../ui/states.tsx';
import { Alone } from './by-letter.tsx';

type Token = ReplyOf<'login'>;

const GIVEN = ['state', 'code', 'iss', 'error'];

/** What the provider gave, read once and taken out of the address. */
let kept: Readonly<Record<string, string>> | null = null;
function givenHere(): Readonly<Record<string, string>> | null {
  const { search, pathname } = window.location;
  if (search.length > 1) {
    kept = Object.fromEntries([...new URLSearchParams(search)].filter(([name]) => GIVEN.includes(name)));
    history.replaceState(null, '', pathname);
  }
  return kept !== null && kept['state'] !== undefined ? kept : null;
}

function enter(token: Token): void {
  signedIn(token);
  void readOrganizations();
  go(`${BASE}/`);
}

export function Sso(): JSX.Element {
  const [given] = useState(givenHere);
  return given === null ? <Begin /> : <Finish given={given} />;
}

function Begin(): JSX.Element {
  const [said, setSaid] = useState('');
  const begin = useSend(
    async ({ email = '' }) => {
      setSaid('');
      const found = await open.ask('discoverSso', { body: { email: email.trim() } });
      if (isRefusal(found.outcome)) return { ...found, outcome: found.outcome };
      const { connectionId } = found.outcome;
      if (connectionId !== null) return open.ask('startSso', { body: { connectionId } });
      setSaid('Nobody signs in by a provider with emails of this domain.');
      return null;
    },
    ({ url }) => window.location.assign(url),
  );
  return (
    <Alone title="Single sign-on">
      <Form sending={begin} label="Go on">
        <Field label="Email" name="email" type="email" autocomplete="username" required autofocus maxLength={320} />
      </Form>
      <p class="notice" role="status" hidden={said === ''}>
        {said}
      </p>
      <ToSignIn />
    </Alone>
  );
}

function Finish({ given }: { given: Readonly<Record<string, string>> }): JSX.Element {
  const [failed, setFailed] = useState<Failed | null>(null);
  const [isToProve, setToProve] = useState(false);
  useEffect(() => {
    kept = null; // good once
    void open.ask('finishSso', { body: given as { state: string } }).then(({ outcome, requestId }) => {
      if (!isRefusal(outcome)) return enter(outcome);
      if (outcome.details['reason'] === 'prove_account') setToProve(true);
      else setFailed({ refusal: outcome, requestId });
    });
  }, []);
  if (isToProve) return <Prove />;
  return (
    <Alone title="Single sign-on">
      {failed === null ? <p role="status">Signing in …</p> : <Failure failed={failed} />}
      <ToSignIn />
    </Alone>
  );
}

function Prove(): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const prove = useSend<Token>(async ({ password = '', ...rest }): Promise<Answered<Token> | null> => {
    const answer = await open.ask('linkSso', {
      body: {
        password,
        ...proofOf(rest),
      },
    });
    const { outcome } = answer;
    if (isRefusal(outcome) && outcome.details['reason'] === 'missing' && !isAsked) {
      setAsked(true);
      return null;
    }
    return answer;
  }, enter);
  return (
    <Alone title="Is this you?">
      <p>Somebody has a sign-in with your email already. Prove, once, that it is yours.</p>
      <Form sending={prove} label="Sign in">
        <Field label="Password" name="password" type="password" autocomplete="current-password" required autofocus />
        {isAsked && <FactorField />}
      </Form>
      <ToSignIn />
    </Alone>
  );
}

const ToSignIn = (): JSX.Element => (
  <p>
    <a href={`${BASE}/`}>Sign in with a password</a>
  </p>
);

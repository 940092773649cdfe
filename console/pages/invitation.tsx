/** Where the link of an invitation leads: what it is to, and how to accept it. Console A31. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask } from '../app/ask.ts';
import { BASE, go, hrefOf } from '../app/location.ts';
import type { Failed } from '../app/read.ts';
import { open, readOrganizations, session, signedIn, signOut } from '../app/session.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Text } from '../ui/parts.tsx';
import { Failure, Skeleton } from '../ui/states.tsx';
import { words } from '../ui/text.ts';
import { Alone, LinkFailure, NewPassword, tokenHere } from './by-letter.tsx';
import { SignIn } from './sign-in.tsx';

type Look = ReplyOf<'lookAtInvitation'>;

const enter = async (organizationId: string | null): Promise<void> => {
  await readOrganizations();
  go(organizationId === null ? `${BASE}/` : hrefOf({ organizationId, environment: 'sandbox' }, '/'), { replace: true });
};

export function Invitation(): JSX.Element {
  const token = tokenHere();
  const [look, setLook] = useState<Look | Failed | null>(null);
  const [wantsSignIn, setWantsSignIn] = useState(false);
  useEffect(() => {
    void open.ask('lookAtInvitation', { body: { token } }).then(({ outcome, requestId }) => {
      setLook(isRefusal(outcome) ? { refusal: outcome, requestId } : outcome);
    });
  }, [token]);
  if (look === null)
    return (
      <Alone title="Invitation">
        <Skeleton rows={3} />
      </Alone>
    );
  if ('refusal' in look) return <Over failed={look} />;
  const isIn = session.value.state === 'in';
  if (!isIn && wantsSignIn) return <SignIn ended={false} />;
  return (
    <Alone title={`Join ${look.organization}`}>
      <p>
        The invitation is for <Text of={look.email} />, as {words(look.role).toLowerCase()}.
      </p>
      {isIn ? (
        <Accept token={token} />
      ) : look.sso ? (
        <p>
          {look.organization} lets people in by its identity provider alone: <a href={`${BASE}/sso`}>sign in there</a>,
          then open the link of the letter again.
        </p>
      ) : look.known ? (
        <>
          <p>This email has a sign-in: sign in first, then accept.</p>
          <button type="button" class="button primary" onClick={() => setWantsSignIn(true)}>
            Sign in
          </button>
        </>
      ) : (
        <Join token={token} email={look.email} />
      )}
    </Alone>
  );
}

function Over({ failed }: { failed: Failed }): JSX.Element {
  const isOfLink = ['NOT_FOUND', 'CONFLICT'].includes(failed.refusal.code);
  return (
    <Alone title="Invitation">
      {isOfLink ? (
        <>
          <LinkFailure failed={failed} again={null} />
          <p>Ask an owner of the organization to invite you again.</p>
        </>
      ) : (
        <Failure failed={failed} again={() => window.location.reload()} />
      )}
      <p>
        <a href={`${BASE}/`}>To the console</a>
      </p>
    </Alone>
  );
}

function Accept({ token }: { token: string }): JSX.Element {
  const sending = useSend(
    () => ask('acceptInvitation', null, { body: { token } }),
    ({ organizationId }) => void enter(organizationId),
  );
  const invited = sending.failed?.refusal.details['invited'];
  return (
    <>
      {typeof invited === 'string' && (
        <p class="notice warn" role="alert">
          You are signed in as somebody else. The invitation is for {invited}.{' '}
          <button type="button" class="link" onClick={() => void signOut()}>
            Sign out and go on
          </button>
        </p>
      )}
      <Form sending={sending} label="Accept" />
    </>
  );
}

function Join({ token, email }: { token: string; email: string }): JSX.Element {
  const sending = useSend(
    ({ password = '' }) => open.ask('joinByInvitation', { body: { token, password } }),
    (reply) => {
      signedIn(reply);
      void enter(reply.organizationId);
    },
  );
  return (
    <Form sending={sending} label="Set the password and join">
      <Field label="Email" name="email" type="email" autocomplete="username" value={email} readOnly />
      <NewPassword />
    </Form>
  );
}

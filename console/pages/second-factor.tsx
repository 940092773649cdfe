/** The second factor of the signed-in user: codes of an authenticator app, and recovery codes for a lost one. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor } from '../app/ask.ts';
import { readAgain, useRead } from '../app/read.ts';
import { signedIn } from '../app/session.ts';
import { CodeField, codeIn, FactorField, proofOf, RecoveryCodeField } from '../ui/code-field.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Panel } from '../ui/parts.tsx';
import { Qr } from '../ui/qr.tsx';
import { Secret } from '../ui/secret.tsx';
import { Shown } from '../ui/states.tsx';

type Me = ReplyOf<'getMe'>;

export function SecondFactor({ note }: { note: string }): JSX.Element {
  const me = useRead('getMe', null);
  const [said, setSaid] = useState('');
  return (
    <Panel title="Second factor" note={note}>
      <Shown read={me} rows={2}>
        {(who) => (
          <>
            <SetUp who={who} done={() => setSaid('The second factor is set up.')} begun={() => setSaid('')} />
            {who.secondFactor && <RecoveryCodes left={who.recoveryCodes} />}
            {who.totp && <TakeAway done={() => setSaid('The authenticator app is taken away.')} />}
          </>
        )}
      </Shown>
      <p class="said" role="status">
        {said}
      </p>
    </Panel>
  );
}

function SetUp({ who, begun, done }: { who: Me; begun: () => void; done: () => void }): JSX.Element {
  const [made, setMade] = useState<{ secret: string; otpauthUri: string } | null>(null);
  const [wants, setWants] = useState<'password' | 'recoveryCode' | null>(null);
  const begin = useSend(
    async (values) => {
      const body = {
        ...proofOf(values),
        ...(values['password'] === undefined ? {} : { password: values['password'] }),
      };
      if (who.secondFactor && wants === null)
        return askWithFactor('A new device takes the place of the one you have.', 'enrolTotp', null, () => ({ body }));
      const answer = await ask('enrolTotp', null, { body });
      const { outcome } = answer;
      if (isRefusal(outcome) && outcome.details['reason'] === 'not_fresh' && wants === null) {
        setWants('password');
        return null;
      }
      return answer;
    },
    (secret) => {
      begun();
      setWants(null);
      setMade(secret);
    },
  );
  const confirm = useSend(
    async ({ totp }) => {
      const answer = await ask('confirmTotp', null, { body: { totp: codeIn(totp) } });
      if (!isRefusal(answer.outcome)) signedIn(answer.outcome);
      return answer;
    },
    () => {
      setMade(null);
      done();
      readAgain('getMe');
    },
  );
  if (made === null)
    return (
      <>
        <p>
          {who.secondFactor ? 'An authenticator app is set up.' : 'Making API keys and deciding rotations need one.'}
        </p>
        <Form
          sending={begin}
          label={who.totp ? 'Set up another device' : 'Set up an authenticator app'}
          {...(wants === null ? {} : { onCancel: () => setWants(null) })}
        >
          {wants === 'password' && (
            <Field label="Your password" name="password" type="password" autocomplete="current-password" required />
          )}
          {wants === 'recoveryCode' && <RecoveryCodeField />}
        </Form>
        {who.secondFactor && wants === null && (
          <button type="button" class="link" onClick={() => setWants('recoveryCode')}>
            The device is lost: set up another one by a recovery code
          </button>
        )}
      </>
    );
  return (
    <>
      <div class="address-card">
        <Qr text={made.otpauthUri} label="QR code for the authenticator app" />
        <div>
          <p>Scan it, or type this secret into the app. It is shown this once.</p>
          <Code of={made.secret} whole />
        </div>
      </div>
      <Form sending={confirm} label="Confirm" onCancel={() => setMade(null)}>
        <CodeField label="The code that it shows" />
      </Form>
    </>
  );
}

function RecoveryCodes({ left }: { left: number }): JSX.Element {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const make = useSend(
    () => askWithFactor('Recovery codes of before are good no more.', 'makeRecoveryCodes', null, () => ({ body: {} })),
    (made) => setCodes(made.codes),
  );
  return (
    <>
      <p>
        {left === 0
          ? 'There are no recovery codes. Without them a lost device locks you out.'
          : `Recovery codes left: ${left}.`}
      </p>
      <Form sending={make} label="Make recovery codes" />
      {codes !== null && (
        <Secret
          title="Recovery codes"
          what="Each signs you in once where the device is lost. Keep them away from it."
          text={codes.join('\n')}
          fileName="flock-recovery-codes.txt"
          onDone={() => {
            setCodes(null);
            readAgain('getMe');
          }}
        />
      )}
    </>
  );
}

function TakeAway({ done }: { done: () => void }): JSX.Element {
  const take = useSend(
    (values) => ask('disableTotp', null, { body: proofOf(values) }),
    () => {
      done();
      readAgain('getMe');
    },
  );
  return (
    <details>
      <summary>Take the app away</summary>
      <Form sending={take} label="Take away" danger>
        <FactorField focused={false} />
      </Form>
    </details>
  );
}

/** Whether members get in by the provider alone, and who gets in when it fails. Console A41. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor, type Scope } from '../app/ask.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Form, useSend } from '../ui/form.tsx';
import { Instant, Panel, Status, Text } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';

type Connection = ReplyOf<'setSsoConnection'>;
const NAMED = 'owner:';

export function Enforcement({ scope }: { scope: Scope }): JSX.Element {
  const read = useRead('listSsoConnections', scope);
  return (
    <Panel title="Sign-in by the provider alone" note="No passwords for members of your domains">
      <Shown read={read} rows={2}>
        {({ content: [connection] }) =>
          connection === undefined ? (
            <Empty title="Connect a provider first">Then sign in by it yourself, and come back.</Empty>
          ) : (
            <Decide scope={scope} now={connection} />
          )
        }
      </Shown>
    </Panel>
  );
}

function Decide({ scope, now }: { scope: Scope; now: Connection }): JSX.Element {
  const members = useRead('listMembers', scope);
  const [said, setSaid] = useState('');
  const isOn = now.enforcedAt !== null;
  const send = (enforced: boolean, breakGlass: readonly string[]) =>
    askWithFactor(
      enforced ? 'Members of your domains get in by the provider alone.' : 'Passwords work again.',
      'enforceSso',
      scope,
      (totp) => ({
        params: { id: now.id },
        body: { enforced, breakGlass: [...breakGlass], ...(totp === undefined ? {} : { totp }) },
      }),
      { inBody: true },
    );
  const done = (text: string) => () => {
    setSaid(text);
    readAgain('listSsoConnections');
  };
  const enforce = useSend(
    (values) =>
      send(
        true,
        Object.keys(values)
          .filter((name) => name.startsWith(NAMED))
          .map((name) => name.slice(NAMED.length)),
      ),
    done('Members of your domains get in by the provider alone from now on.'),
  );
  const relax = useSend(() => send(false, now.breakGlass), done('Passwords work again.'));
  return (
    <>
      {now.closedBy !== null && (
        <p class="notice warn" role="status">
          The operator of this cloud lets nobody in by this provider (<code>{now.closedBy}=off</code>).{' '}
          {isOn
            ? 'Members of your domains are shut out until you enforce it no longer, or the operator opens it.'
            : 'Members sign in by password or passkey.'}
        </p>
      )}
      {now.enforcedAt === null ? (
        <p>
          <Status of="pending" label="Off" /> Members sign in by the provider or by password.
        </p>
      ) : (
        <p>
          <Status of="active" label="On" /> Since <Instant at={now.enforcedAt} />. Members of your domains get in by the
          provider alone.
        </p>
      )}
      <Shown read={members} rows={2}>
        {({ content }) => (
          <Form sending={enforce} label={isOn ? 'Change the emergency owners' : 'Enforce it'}>
            <fieldset>
              <legend>Owners who get in without the provider, for an emergency</legend>
              <div class="checks">
                {content
                  .filter(({ role }) => role === 'owner')
                  .map(({ userId, email }) => (
                    <label key={userId}>
                      <input
                        type="checkbox"
                        name={`${NAMED}${userId}`}
                        defaultChecked={now.breakGlass.includes(userId)}
                      />{' '}
                      <Text of={email} />
                    </label>
                  ))}
              </div>
            </fieldset>
            <p class="hint">
              Each needs a password and a second factor, and every sign-in of theirs is mailed to all owners. You
              yourself must have signed in by the provider within 24 hours: that proves that it works.
            </p>
          </Form>
        )}
      </Shown>
      {isOn && <Form sending={relax} label="Enforce it no longer" danger inline />}
      <p class="said" role="status">
        {said}
      </p>
    </>
  );
}

/** The command that starts an edge; the page turns green by itself when one has registered. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { askWithFactor, may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Copy, Head, Panel, Status } from '../ui/parts.tsx';
import { SecretHere } from '../ui/secret.tsx';
import { Shown } from '../ui/states.tsx';
import { SecondFactor } from './second-factor.tsx';

/** While this page is open it looks this often whether the edge is there. */
const LOOK_MS = 2_000;

export function EdgeSetup({ scope }: PageProps): JSX.Element {
  const setup = useRead('getEdgeSetup', scope);
  const sessions = useRead('listEdgeSessions', scope);
  const [key, setKey] = useState<string | null>(null);
  const me = useRead('getMe', null);
  const isConnected = sessions.data?.content.some(({ endedAt }) => endedAt === null) === true;
  useEffect(() => {
    if (isConnected) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void sessions.again();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [isConnected]);
  const filled = (command: string): string => (key === null ? command : `export FLOCK_API_KEY=${key}\n${command}`);
  return (
    <>
      <Head title="Edge setup" note="One command on a machine of yours. The phrase never leaves it." />
      <div aria-live="polite">
        {isConnected ? (
          <p class="notice good">
            <Status of="live" label="Connected" /> Your edge has registered its public keys.{' '}
            <a href={hrefOf(scope, '/addresses', { new: '1' })}>Issue the first address</a>
          </p>
        ) : (
          <p class="notice">
            <Status of="pending" label="Waiting" /> No edge of {scope.environment} is connected yet. This page sees it
            within two seconds.
          </p>
        )}
      </div>
      {may('owner') && me.data?.secondFactor === false && key === null && (
        <SecondFactor note="Making a key needs one" />
      )}
      {may('owner') && (
        <Mint scope={scope} onKey={setKey}>
          {key !== null && (
            <SecretHere text={key} fileName={`flock-${scope.environment}-key.txt`} isKept={isConnected} />
          )}
        </Mint>
      )}
      <Panel
        title="Commands"
        note={key === null ? 'The key is yours to fill in' : 'With the key that you have just made'}
      >
        <Shown read={setup}>
          {({ command, checkoutCommand, variables }) => (
            <>
              <h3>With Docker</h3>
              <Command text={filled(command)} />
              <h3>In a checkout of Flock</h3>
              <Command text={filled(checkoutCommand)} />
              <h3>Variables</h3>
              <dl class="facts">
                {variables.map(({ name, value, description }) => (
                  <div key={name}>
                    <dt>
                      <code>{name}</code>
                    </dt>
                    <dd>
                      {value !== null && <code>{value}</code>} <span class="faint">{description}</span>
                    </dd>
                  </div>
                ))}
              </dl>
            </>
          )}
        </Shown>
      </Panel>
    </>
  );
}

function Command({ text }: { text: string }): JSX.Element {
  return (
    <div class="command">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} label="Copy command" />
    </div>
  );
}

function Mint({
  scope,
  onKey,
  children,
}: Pick<PageProps, 'scope'> & { onKey: (key: string) => void; children: ComponentChildren }): JSX.Element {
  const sending = useSend(
    ({ label = '' }, idempotencyKey) =>
      askWithFactor('An API key lets an edge act for this account.', 'mintApiKey', scope, () => ({
        idempotencyKey,
        body: { label, environment: scope.environment },
      })),
    ({ key }) => {
      readAgain('listApiKeys');
      onKey(key);
    },
  );
  return (
    <Panel title="Key of the edge" note="It is shown once, and filled into the commands below">
      <Form inline sending={sending} label="Make a key">
        <Field label="Label" name="label" required maxLength={120} value="edge" />
      </Form>
      {children}
    </Panel>
  );
}

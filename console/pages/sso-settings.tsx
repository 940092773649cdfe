/** Single sign-on of the organization: its provider, and the domains of emails that are its own. Console A35, A36. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor, may, type Scope } from '../app/ask.ts';
import { BASE } from '../app/place.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Head, Instant, Panel, Status, Text } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { Enforcement } from './sso-enforcement.tsx';

type Connection = ReplyOf<'setSsoConnection'>;
type Domain = ReplyOf<'addDomain'>;

const ROLES = [
  ['viewer', 'Viewer: reads only'],
  ['editor', 'Editor: addresses, payments, webhooks'],
] as const;

export function SsoSettings({ scope }: PageProps): JSX.Element {
  return (
    <>
      <Head title="Single sign-on" />
      {may('owner') ? (
        <>
          <Provider scope={scope} />
          <Domains scope={scope} />
          <Enforcement scope={scope} />
        </>
      ) : (
        <Empty title="Owners decide this">Ask an owner of the organization.</Empty>
      )}
    </>
  );
}

function Provider({ scope }: { scope: Scope }): JSX.Element {
  const read = useRead('listSsoConnections', scope);
  return (
    <Panel title="Identity provider" note="People sign in there, and come here as members">
      <Shown read={read} rows={3}>
        {({ content }) => <Chosen scope={scope} now={content[0] ?? null} />}
      </Shown>
    </Panel>
  );
}

const STATUS = { verified: 'active', pending: 'pending', unverified: 'stale' } as const;

const KINDS = [
  ['oidc', 'OpenID Connect'],
  ['saml', 'SAML 2.0'],
] as const;

function Chosen({ scope, now }: { scope: Scope; now: Connection | null }): JSX.Element {
  const [kind, setKind] = useState<string>(now?.kind ?? 'oidc');
  return (
    <>
      <fieldset>
        <legend>Protocol</legend>
        <div class="checks">
          {KINDS.map(([name, label]) => (
            <label key={name}>
              <input type="radio" name="kind" checked={kind === name} onChange={() => setKind(name)} /> {label}
            </label>
          ))}
        </div>
      </fieldset>
      {kind === 'saml' ? (
        <SamlForm scope={scope} now={now} />
      ) : (
        <ProviderForm scope={scope} now={ofKind(now, 'oidc')} />
      )}
      {now !== null && <Disconnect scope={scope} id={now.id} />}
    </>
  );
}

const ofKind = (now: Connection | null, kind: Connection['kind']): Connection | null =>
  now?.kind === kind ? now : null;

function Disconnect({ scope, id }: { scope: Scope; id: string }): JSX.Element {
  const remove = useSend(
    () =>
      askWithFactor('Nobody signs in by this provider any more.', 'removeSsoConnection', scope, () => ({
        params: { id },
      })),
    () => readAgain('listSsoConnections'),
  );
  return <Form sending={remove} label="Disconnect" danger inline />;
}

/** The provider by its metadata, which is pasted. Console A39. */
function SamlForm({ scope, now }: { scope: Scope; now: Connection | null }): JSX.Element {
  const [said, setSaid] = useState('');
  const address = `${window.location.origin}${BASE}/sso`;
  const kept = ofKind(now, 'saml');
  const set = useSend(
    ({ metadata = '', jitRole = 'viewer' }) =>
      askWithFactor('People sign in by this provider from now on.', 'setSamlConnection', scope, () => ({
        body: { metadata, jitRole: jitRole as 'viewer' | 'editor' },
      })),
    () => {
      setSaid('The provider is kept. Try it in a private window before anybody needs it.');
      readAgain('listSsoConnections');
    },
  );
  return (
    <>
      <p>
        At the provider, both the entity id (audience) and the address that answers are posted to (ACS) are{' '}
        <Code of={kept?.redirectUri ?? address} whole />. Let it sign response and assertion with SHA-256, send
        persistent names, and an attribute <code>email</code>.
      </p>
      {kept !== null && (
        <>
          <p>
            Now: <Text of={kept.issuer} />
          </p>
          {kept.certificates.map(({ endsAt }) => (
            <p key={endsAt}>
              A certificate until <Instant at={endsAt} />
            </p>
          ))}
        </>
      )}
      <Form sending={set} label={kept === null ? 'Connect the provider' : 'Change the provider'}>
        <div class="field">
          <label for="saml-metadata">Metadata of the provider</label>
          <textarea id="saml-metadata" name="metadata" rows={8} spellcheck={false} required maxLength={262_144} />
          <p class="hint">XML. While its certificate changes, metadata with both.</p>
        </div>
        <Choice label="Who comes first time becomes" name="jitRole" options={ROLES} value={kept?.jitRole ?? 'viewer'} />
      </Form>
      <p class="said" role="status">
        {said}
      </p>
    </>
  );
}

function ProviderForm({ scope, now }: { scope: Scope; now: Connection | null }): JSX.Element {
  const [said, setSaid] = useState('');
  const again = (): void => readAgain('listSsoConnections');
  const set = useSend(
    ({ issuer = '', clientId = '', clientSecret = '', jitRole = 'viewer' }) =>
      askWithFactor('People sign in by this provider from now on.', 'setSsoConnection', scope, () => ({
        body: {
          issuer: issuer.trim(),
          clientId: clientId.trim(),
          jitRole: jitRole as 'viewer' | 'editor',
          ...(clientSecret === '' ? {} : { clientSecret }),
        },
      })),
    () => {
      setSaid('The provider answered, and is kept. Try it in a private window before anybody needs it.');
      again();
    },
  );
  return (
    <>
      {now !== null && (
        <p>
          Register this address at the provider: <Code of={now.redirectUri} whole />
        </p>
      )}
      <Form sending={set} label={now === null ? 'Connect the provider' : 'Change the provider'}>
        <Field
          label="Issuer"
          name="issuer"
          type="url"
          required
          maxLength={500}
          {...(now === null ? {} : { value: now.issuer })}
        />
        <Field
          label="Client id"
          name="clientId"
          required
          maxLength={300}
          {...(now === null ? {} : { value: now.clientId })}
        />
        <Field
          label="Client secret"
          name="clientSecret"
          type="password"
          maxLength={1_000}
          hint={now?.hasSecret === true ? 'One is kept. Leave this empty to keep it.' : 'Empty for a public client.'}
        />
        <Choice label="Who comes first time becomes" name="jitRole" options={ROLES} value={now?.jitRole ?? 'viewer'} />
      </Form>
      <p class="said" role="status">
        {said}
      </p>
    </>
  );
}

function Domains({ scope }: { scope: Scope }): JSX.Element {
  const read = useRead('listDomains', scope);
  const add = useSend(
    ({ domain = '' }) =>
      askWithFactor('Emails of this domain are your organization’s.', 'addDomain', scope, () => ({
        body: { domain: domain.trim() },
      })),
    () => readAgain('listDomains'),
  );
  return (
    <Panel title="Domains" note="Who comes by the provider needs an email of a verified one">
      <Form sending={add} label="Add a domain" inline>
        <Field label="Domain" name="domain" required maxLength={253} placeholder="example.com" />
      </Form>
      <Shown read={read} rows={2}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="No domain yet">A TXT record proves that a domain is yours.</Empty>
          ) : (
            <Table
              caption="Domains"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Domain', cell: ({ domain }) => <Text of={domain} /> },
                {
                  name: 'Status',
                  cell: ({ status }) => <Status of={STATUS[status]} label={status} />,
                },
                {
                  name: 'TXT record',
                  cell: ({ record }) => <Code of={`${record.name} ${record.value}`} />,
                  wideOnly: true,
                },
                { name: 'Actions', cell: (one) => <Decide scope={scope} of={one} /> },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

function Decide({ scope, of: { id, domain, status } }: { scope: Scope; of: Domain }): JSX.Element {
  const again = (): void => readAgain('listDomains');
  const check = useSend(
    () => askWithFactor(`The TXT record of ${domain} is looked for.`, 'checkDomain', scope, () => ({ params: { id } })),
    again,
  );
  const remove = useSend(
    () => askWithFactor(`${domain} is given up.`, 'removeDomain', scope, () => ({ params: { id } })),
    again,
  );
  return (
    <>
      {status !== 'verified' && <Form sending={check} label="Check" inline />}
      <Form sending={remove} label="Remove" inline danger />
    </>
  );
}

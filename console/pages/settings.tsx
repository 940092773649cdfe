/** What an organization is called, and where the rest of its settings is. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { organizations, readOrganizations } from '../app/session.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { words } from '../ui/text.ts';

export function Settings({ scope }: PageProps): JSX.Element {
  const own = organizations.value.find(({ id }) => id === scope.organizationId);
  const isOwner = may('owner');
  const [said, setSaid] = useState('');
  return (
    <>
      <Head title="Settings" note="Of the organization, in live and in sandbox." />
      <Panel title="Organization">
        <Facts
          rows={[
            ['Name', <Text of={own?.name ?? null} />],
            ['Id', <Code of={scope.organizationId} whole />],
            ['You are', own === undefined ? '–' : words(own.role)],
            ['Since', <Instant at={own?.createdAt ?? null} />],
          ]}
        />
        {isOwner && own !== undefined && <Rename key={own.name} scope={scope} name={own.name} say={setSaid} />}
        <p class="said" role="status">
          {said}
        </p>
      </Panel>
      <div class="columns">
        <Panel title="Single sign-on" actions={isOwner && <a href={hrefOf(scope, '/sso')}>Provider and domains</a>}>
          {isOwner ? <Provider scope={scope} /> : <p>Owners see and decide by which provider members sign in.</p>}
        </Panel>
        <Panel title="Support access" actions={<a href={hrefOf(scope, '/support')}>Consent and sessions</a>}>
          <Support scope={scope} />
        </Panel>
        <Panel title="Wipe" actions={isOwner && <a href={hrefOf(scope, '/wipe')}>What it does</a>}>
          <p>
            {isOwner
              ? `Deletes your public keys and what names your customers (${scope.environment}).`
              : 'An owner may have what names your customers deleted.'}
          </p>
        </Panel>
      </div>
    </>
  );
}

/** Another form for each name: what was typed is not kept behind the one that came of it. */
function Rename({
  scope,
  name,
  say,
}: Pick<PageProps, 'scope'> & { name: string; say: (said: string) => void }): JSX.Element {
  const sending = useSend(
    ({ name: next = '' }) =>
      ask('renameOrganization', scope, { params: { id: scope.organizationId }, body: { name: next.trim() } }),
    (renamed) => {
      say(`It is called ${renamed.name} now.`);
      void readOrganizations();
    },
  );
  return (
    <Form sending={sending} label="Rename">
      <Field
        label="Another name"
        name="name"
        required
        maxLength={120}
        value={name}
        hint="Members and letters show it."
      />
    </Form>
  );
}

function Provider({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const read = useRead('listSsoConnections', scope);
  return (
    <Shown read={read} rows={1}>
      {({ content: [connection] }) =>
        connection === undefined ? (
          <p>Members sign in by password or passkey.</p>
        ) : (
          <p>
            <Status of="active" label={connection.enforcedAt === null ? 'Connected' : 'The only way in'} />{' '}
            <Text of={connection.issuer} />
          </p>
        )
      }
    </Shown>
  );
}

function Support({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const read = useRead('getSupportAccess', scope);
  return (
    <Shown read={read} rows={1}>
      {({ until }) =>
        until === null ? (
          <p>
            <Status of="disabled" label="Not allowed" /> Staff reads nothing here.
          </p>
        ) : (
          <p>
            <Status of="warn" tone="warn" label="Allowed" /> Until <Instant at={until} />.
          </p>
        )
      }
    </Shown>
  );
}

/** The login of a command line: a person types its code, and says which account its key is for. Ecosystem X28. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { askWithFactor } from '../app/ask.ts';
import { organizations } from '../app/session.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Head, Panel } from '../ui/parts.tsx';

const ENVIRONMENTS = [
  ['sandbox', 'Sandbox'],
  ['live', 'Live: money'],
] as const;
const READ = ['viewer', 'Read'] as const;
const WRITE = ['editor', 'Read and write'] as const;

export function Device(): JSX.Element {
  const mine = organizations.value;
  const [chosen, choose] = useState<string | null>(null);
  const [isDone, setDone] = useState(false);
  const organization = mine.find(({ id }) => id === chosen) ?? mine[0];
  const sending = useSend(
    ({ userCode = '', environment = 'sandbox', role = 'viewer' }) => {
      const scope = { organizationId: organization!.id, environment: environment as 'sandbox' | 'live' };
      return askWithFactor('The key of a command line acts for this account.', 'approveDevice', scope, () => ({
        body: { userCode: userCode.trim(), environment: scope.environment, role: role as 'editor' | 'viewer' },
      }));
    },
    () => setDone(true),
  );
  return (
    <>
      <Head title="Command line" note="Approve only the code that your own terminal shows now." />
      <Panel>
        {isDone ? (
          <p class="notice good" role="status">
            Approved: the command line has its key in a few seconds. It ends in 90 days, and is among the API keys of
            the account as <b>cli</b>.
          </p>
        ) : organization === undefined ? (
          <p class="notice warn">You are in no organization yet.</p>
        ) : (
          <Form sending={sending} label="Approve">
            <Field
              label="Code"
              name="userCode"
              required
              autofocus
              maxLength={9}
              placeholder="XXXX-XXXX"
              hint="Nobody of us ever asks you to type a code that you did not ask for."
            />
            <Choice
              label="Organization"
              name="organization"
              options={mine.map(({ id, name }) => [id, name] as const)}
              value={organization.id}
              onChange={choose}
            />
            <Choice label="Environment" name="environment" options={ENVIRONMENTS} />
            <Choice label="May" name="role" options={organization.role === 'viewer' ? [READ] : [WRITE, READ]} />
          </Form>
        )}
      </Panel>
    </>
  );
}

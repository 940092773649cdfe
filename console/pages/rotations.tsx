/** An edge came with another phrase: the owner decides with a code, and with the end of the fingerprint typed. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';

type Rotation = ReplyOf<'listRotations'>['content'][number];
const TYPED_CHARS = 8;

export function Rotations({ scope }: PageProps): JSX.Element {
  const read = useRead('listRotations', scope, undefined, { live: true });
  return (
    <>
      <Head title="Identity rotation" note="Decisions that wait because an edge came with keys of another phrase." />
      <Shown read={read} rows={4}>
        {({ content }) =>
          content.length === 0 ? (
            <Panel>
              <Empty title="Nothing waits">
                When an edge registers with another recovery phrase, nothing of it is used before an owner decides here.
              </Empty>
            </Panel>
          ) : (
            content.map((rotation) => <Waiting key={rotation.id} scope={scope} rotation={rotation} />)
          )
        }
      </Shown>
    </>
  );
}

function Waiting({ scope, rotation }: Pick<PageProps, 'scope'> & { rotation: Rotation }): JSX.Element {
  const [choice, setChoice] = useState<'approve' | 'reject' | null>(null);
  return (
    <Panel
      title="Another identity"
      note={<Status of="held" label="Waits for an owner" />}
      actions={
        may('owner') ? (
          <>
            <button type="button" class="button" onClick={() => setChoice('reject')}>
              Reject
            </button>
            <button type="button" class="button danger" onClick={() => setChoice('approve')}>
              Approve
            </button>
          </>
        ) : (
          <span class="faint">An owner decides.</span>
        )
      }
    >
      <Facts
        rows={[
          ['New identity', <Code of={rotation.publicKey} whole />],
          ['Families', rotation.families.join(', ')],
          ['Since', <Instant at={rotation.detectedAt} />],
          ['Id', <Code of={rotation.id} whole />],
        ]}
      />
      <dl class="choices">
        <div>
          <dt>Reject</dt>
          <dd>
            The pinned identity stays, the held keys are discarded, the new edge is turned away. The right answer if you
            did not change the phrase.
          </dd>
        </div>
        <div>
          <dt>Approve</dt>
          <dd>
            New addresses come from the new phrase. Addresses issued before are watched on, and only an edge with the
            old phrase can sign for them.
          </dd>
        </div>
      </dl>
      {choice !== null && <Decide scope={scope} rotation={rotation} choice={choice} close={() => setChoice(null)} />}
    </Panel>
  );
}

function Decide({
  scope,
  rotation,
  choice,
  close,
}: Pick<PageProps, 'scope'> & { rotation: Rotation; choice: 'approve' | 'reject'; close: () => void }): JSX.Element {
  const end = rotation.publicKey.slice(-TYPED_CHARS);
  const sending = useSend(
    (_values, idempotencyKey) =>
      askWithFactor(
        `${choice === 'approve' ? 'Approves' : 'Rejects'} the new identity of ${scope.organizationId} (${scope.environment}).`,
        choice === 'approve' ? 'approveRotation' : 'rejectRotation',
        scope,
        (totp) => ({ idempotencyKey, params: { id: rotation.id }, body: totp === undefined ? {} : { totp } }),
        { inBody: true },
      ),
    () => {
      readAgain('listRotations', 'getEdgeReadiness', 'listEdgeSessions');
      close();
    },
  );
  return (
    <Dialog
      title={`${choice === 'approve' ? 'Approve' : 'Reject'} the new identity (${scope.environment})`}
      onClose={close}
    >
      <p>
        Compare with what your edge shows at its start, then type the last {TYPED_CHARS} characters of the new identity:{' '}
        <code>{end}</code>
      </p>
      <Form
        sending={sending}
        label={choice === 'approve' ? 'Approve' : 'Reject'}
        danger={choice === 'approve'}
        onCancel={close}
      >
        <Field
          label={`Last ${TYPED_CHARS} characters`}
          name="typed"
          required
          autofocus
          pattern={end.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')}
          title="Exactly as shown"
        />
      </Form>
    </Dialog>
  );
}

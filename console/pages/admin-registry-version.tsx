/** The next version of the token registry: what it has otherwise, what is signed of it, and its publication. K7. */
import type { ComponentChildren, JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { Area, Form, type useSend } from '../ui/form.tsx';
import { Text } from '../ui/parts.tsx';
import { save } from '../ui/secret.tsx';
import { Table } from '../ui/table.tsx';
import { shortened, words } from '../ui/text.ts';

type Next = ReplyOf<'getProposedVersion'>;
type Difference = Next['differences'][number];

const subjectOf = ({ symbol, chain, to, contract }: Difference): string => {
  if (to !== null) return `${symbol}, ${chain} to ${to}`;
  return chain === null ? symbol : `${symbol} on ${chain}${contract === null ? '' : `, ${shortened(contract)}`}`;
};

export function Differences({ of: { version, differences } }: { of: Next }): JSX.Element {
  return (
    <Table
      caption={`What version ${version} has otherwise than the one in force`}
      rows={differences}
      keyOf={(one) => `${one.symbol} ${one.chain} ${one.to} ${one.contract} ${one.field}`}
      columns={[
        { name: 'Of', cell: (one) => <Text of={subjectOf(one)} /> },
        { name: 'Field', cell: ({ field }) => words(field) },
        { name: 'In force', cell: ({ was }) => <Text of={was} /> },
        { name: 'Becomes', cell: ({ becomes }) => <Text of={becomes} /> },
      ]}
    />
  );
}

/** The signatures of a form, each on its line. */
export const signaturesOf = (text = ''): string[] => text.split(/\s+/).filter((one) => one !== '');

/** Two holders of registry keys sign what is shown; their signatures are pasted here. No key is. */
export function PublishForm({
  next: { version, content, hash },
  sending,
  children,
}: {
  next: Next;
  sending: Pick<ReturnType<typeof useSend>, 'busy' | 'failed' | 'submit'>;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <Form sending={sending} label={`Publish version ${version}`}>
      <p class="hint">
        Two holders of registry keys sign the same file with <code>flock registry sign</code>; the one that is made now
        has the SHA-256 <code>{shortened(hash)}</code>.{' '}
        <button type="button" class="link" onClick={() => save(content, `registry-${version}.json`)}>
          Download what is signed
        </button>
      </p>
      <Area
        label="Content that was signed"
        name="content"
        hint="The file that both signed. It holds the instant at which it was made: one that is made later is another."
        rows={3}
      />
      <Area label="Two signatures" name="signatures" hint="128 hex digits each, on a line of its own." rows={3} />
      {children}
    </Form>
  );
}

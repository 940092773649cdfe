/** A secret that is shown once. Leaving asks. Console C11. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { askBeforeLeaving } from '../app/location.ts';
import { Copy } from './parts.tsx';
import { Dialog } from './dialog.tsx';

export function Secret({
  title,
  what,
  text,
  fileName,
  onDone,
}: {
  title: string;
  what: string;
  text: string;
  fileName: string;
  onDone: () => void;
}): JSX.Element {
  useEffect(() => {
    askBeforeLeaving(() => window.confirm('The secret is shown only now. Leave without it?'));
    return () => askBeforeLeaving(null);
  }, []);
  const done = (): void => {
    askBeforeLeaving(null); // the secret was kept: the next page may open without a question
    onDone();
  };
  const close = (): void => {
    if (window.confirm('Did you keep the secret? It is not shown again.')) done();
  };
  return (
    <Dialog title={title} onClose={close} wide>
      <p>{what}</p>
      <Once text={text} />
      <div class="form-foot">
        <button type="button" class="button primary" onClick={done}>
          I have kept it
        </button>
        <Download text={text} fileName={fileName} />
      </div>
    </Dialog>
  );
}

/** The same in a page, beside the next step. `isKept`: leaving does not ask. */
export function SecretHere({
  text,
  fileName,
  isKept,
}: {
  text: string;
  fileName: string;
  isKept: boolean;
}): JSX.Element {
  useEffect(() => {
    if (isKept) return undefined;
    askBeforeLeaving(() => window.confirm('The secret is shown only now. Leave without it?'));
    return () => askBeforeLeaving(null);
  }, [isKept]);
  return (
    <>
      <Once text={text} />
      <Download text={text} fileName={fileName} />
    </>
  );
}

const Once = ({ text }: { text: string }): JSX.Element => (
  <>
    <p class="secret">
      <code>{text}</code>
      <Copy text={text} label="Copy secret" />
    </p>
    <p class="hint">It is shown this once. Flock keeps no readable copy.</p>
  </>
);

/** Hands a text to the reader as a file. */
export function save(text: string, fileName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Download({ text, fileName }: { text: string; fileName: string }): JSX.Element {
  return (
    <button type="button" class="button" onClick={() => save(`${text}\n`, fileName)}>
      Download
    </button>
  );
}

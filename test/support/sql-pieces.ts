/** The statements inside of SQL functions, as text: which of them ran, by what `auto_explain` said. */
import { sqlFunctions } from '../../persistence/postgres/functions.ts';

/** Blanks, comments and the ways in which PL/pgSQL hands its statements on differ; the rest is the same text. */
export function normal(text: string): string {
  return text
    .replace(/--[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ (into) (strict )?[a-z_]+(, ?[a-z_]+)*(?= (from|where)|;|$)/gi, '')
    .replace(/\bperform /gi, 'SELECT ')
    .replace(/^return query /i, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Pieces of a function's body that name a table: one for each statement, and for each branch. */
function piecesOf(text: string, tables: RegExp): string[] {
  const [, body = ''] = /as \$\$([\s\S]*?)\$\$/.exec(text) ?? [];
  return normal(body)
    .split(/;| then | else | loop | begin /)
    .map((piece) => piece.replace(/^ *(begin )?((return query|for [a-z_]+ in) )?/, '').trim())
    .filter((piece) => tables.test(piece));
}

/** `name: piece` of every statement in a function file that none of the statements that ran is, or is part of. */
export function piecesNotRun(ran: ReadonlySet<string>, tables: readonly string[]): string[] {
  const named = new RegExp(`\\b(from|join|into|update|using) (flock\\.)?(${tables.join('|')})\\b`);
  const texts = [...ran].map(normal);
  return sqlFunctions().flatMap(({ name, text }) =>
    piecesOf(text, named)
      .filter((piece) => !texts.some((one) => one.length > 12 && (one.includes(piece) || piece.includes(one))))
      .map((piece) => `${name}: ${piece.slice(0, 90)}`),
  );
}

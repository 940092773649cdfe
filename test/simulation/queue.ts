/** What happens next: entries by instant, and by the order of their coming within one. A binary heap. */

export interface Entry {
  readonly atMs: number;
  readonly order: number;
  /** Null once it was cancelled. */
  fire: (() => void) | null;
}

export class Queue {
  readonly #heap: Entry[] = [];
  #order = 0;

  add(atMs: number, fire: () => void): Entry {
    this.#order += 1;
    const entry = { atMs, order: this.#order, fire };
    const heap = this.#heap;
    let place = heap.push(entry) - 1;
    for (let parent = (place - 1) >> 1; place > 0 && isBefore(entry, heap[parent]!); parent = (place - 1) >> 1) {
      heap[place] = heap[parent]!;
      place = parent;
    }
    heap[place] = entry;
    return entry;
  }

  /** Takes the first entry at or before an instant; cancelled ones are dropped. Null when there is none. */
  take(untilMs: number): Entry | null {
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= untilMs; first = this.#heap[0]) {
      this.#removeFirst();
      if (first.fire !== null) return first;
    }
    return null;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const moved = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (let child = 1; child < heap.length; child = 2 * place + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, moved)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = moved;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

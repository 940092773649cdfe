/** What goes wrong in a story: each fault by name, with how it is told. A seed draws which of them it knows. */
import { MOODS } from './receiver.ts';
import type { Place, World } from './world.ts';

const HOUR_MS = 3_600_000;
const SQL_CLOCK_STEP_MS = 240_000;

type Fault = (world: World) => void;

function anyPlace({ places, machine }: World): Place {
  return places[machine.pick(places.length)]!;
}

function endAndRestart(world: World, place: Place, how: string): void {
  if (place.edge === null) return;
  world.endEdge(place, how);
  restartEdge(world, place);
}

function restartEdge(world: World, place: Place): void {
  const { machine } = world;
  machine.after(world.restartMs + machine.random() * (machine.chance(0.2) ? 90_000 : 8_000), () => {
    if (place.edge !== null) return;
    world.startEdge(place);
    world.tell(`${place.host.name} starts`);
  });
}

function freeze(world: World, place: Place, forMs: number): void {
  const { edge } = place;
  if (edge === null || !edge.process.running) return;
  edge.process.freeze();
  world.network.froze(edge.process);
  world.tell(`${place.host.name} freezes`);
  world.machine.after(forMs, () => thaw(world, place));
}

function thaw(world: World, { edge, host }: Place): void {
  if (edge === null || !edge.process.frozen) return;
  world.tell(`${host.name} thaws`);
  world.network.thawed(edge.process);
  edge.process.thaw();
}

const FAULTS: Readonly<Record<string, Fault>> = {
  kill: (world) => endAndRestart(world, anyPlace(world), 'killed'),
  stop(world) {
    const place = anyPlace(world),
      { edge } = place;
    if (edge === null || !edge.process.running) return;
    world.tell(`${place.host.name} is told to stop`);
    edge.process.run(
      () =>
        void edge
          .stop()
          .catch(() => undefined)
          .then(() => {
            world.machine.after(0, () => {
              if (place.edge === edge) endAndRestart(world, place, 'stopped');
            });
          }),
    );
    world.machine.after(10_000, () => {
      if (place.edge === edge) endAndRestart(world, place, 'stopped too slowly');
    });
  },
  power(world) {
    const place = anyPlace(world);
    if (place.edge === null) return;
    endAndRestart(world, place, 'no power');
    world.tell(`${place.host.name} finds ${place.disk.losePower()} writes again`);
  },
  killAtWrite(world) {
    const place = anyPlace(world);
    if (place.edge === null || place.disk.killsAt !== null) return;
    place.disk.killsAt = world.machine.chance(0.5) ? 'before' : 'after';
    world.tell(`${place.host.name} will end ${place.disk.killsAt} a commit`);
  },
  freeze: (world) =>
    freeze(world, anyPlace(world), world.machine.between(500, world.machine.chance(0.5) ? 9_000 : 70_000)),
  cut(world) {
    const { host } = anyPlace(world),
      told = world.machine.chance(0.6) ? 'both' : 'cloud';
    world.network.cut(host.name, told);
    world.tell(`the stream of ${host.name} is cut (${told})`);
  },
  silence(world) {
    const { host } = anyPlace(world);
    world.network.silence(host.name);
    world.tell(`${host.name} is silent`);
    world.machine.after(world.machine.between(500, world.machine.chance(0.5) ? 8_000 : 60_000), () => {
      world.network.restore(host.name);
      world.tell(`${host.name} is heard again`);
    });
  },
  slow(world) {
    const { host } = anyPlace(world),
      link = world.network.link(host.name);
    link.slowMs = world.machine.chance(0.4) ? 0 : world.machine.pick(3_000);
    world.tell(`${host.name} is slow by ${link.slowMs} ms`);
  },
  disorder(world) {
    const { host } = anyPlace(world),
      link = world.network.link(host.name);
    link.disorder = world.machine.chance(0.5) ? 0 : 0.15;
    world.tell(`frames of ${host.name} are ${link.disorder === 0 ? 'in order' : 'doubled and late'}`);
  },
  fullDisk(world) {
    const { disk, host } = anyPlace(world);
    disk.isFull = !disk.isFull;
    world.tell(`the disk of ${host.name} is ${disk.isFull ? 'full' : 'free'}`);
    if (disk.isFull)
      world.machine.after(world.machine.between(1_000, 60_000), () => {
        disk.isFull = false;
      });
  },
  clock(world) {
    const { host } = anyPlace(world);
    host.wallStepMs = world.machine.chance(0.3) ? 0 : Math.round((2 * world.machine.random() - 1) * 2 * HOUR_MS);
    world.tell(`the clock of ${host.name} is off by ${host.wallStepMs} ms`);
  },
  cloudClock(world) {
    world.cloudHost.wallStepMs = Math.round((2 * world.machine.random() - 1) * 5_000);
    world.tell(`the clock of the cloud is off by ${world.cloudHost.wallStepMs} ms`);
  },
  cloudKill(world) {
    if (world.cloud === null) return;
    world.endCloud();
    world.tell('the cloud ends');
    world.machine.after(world.restartMs + world.machine.random() * (world.machine.chance(0.2) ? 60_000 : 6_000), () => {
      if (world.cloud !== null) return;
      world.startCloud();
      world.tell('the cloud starts');
    });
  },
  cloudFreeze(world) {
    const { cloud } = world;
    if (cloud === null || !cloud.process.running) return;
    cloud.process.freeze();
    world.network.froze(cloud.process);
    world.tell('the cloud freezes');
    world.machine.after(world.machine.between(500, world.machine.chance(0.6) ? 8_000 : 45_000), () => {
      if (!cloud.process.frozen) return;
      world.tell('the cloud thaws');
      world.network.thawed(cloud.process);
      cloud.process.thaw();
    });
  },
  database(world) {
    world.database.faultRate = world.machine.chance(0.5) ? 0 : 0.05;
    const isDown = world.machine.chance(0.3);
    world.tell(
      `the database fails ${isDown ? 'altogether' : world.database.faultRate === 0 ? 'never' : 'now and then'}`,
    );
    if (!isDown) return;
    world.database.isDown = true;
    world.machine.after(world.machine.between(200, 12_000), () => {
      world.database.isDown = false;
    });
  },
  count(world) {
    world.countLag = world.machine.chance(0.5) ? 0 : 1 + world.machine.pick(3);
    world.tell(`the node counts ${world.countLag} transactions too few`);
  },
  endpoint(world) {
    const webhooks = world.database.seed.webhooks,
      { url } = webhooks[world.machine.pick(webhooks.length)]!;
    const mood = world.machine.chance(0.4) ? 'fine' : MOODS[world.machine.pick(MOODS.length)]!;
    world.receivers.moods.set(url, mood);
    world.tell(`${url} is ${mood}`);
  },
};

/** What goes wrong around the real functions alone. The database's clock is right, whatever a node's says. */
const SQL_FAULTS: Readonly<Record<string, Fault>> = {
  cloudClock(world) {
    world.cloudHost.wallStepMs = Math.round((2 * world.machine.random() - 1) * SQL_CLOCK_STEP_MS);
    world.tell(`the clock of the cloud is off by ${world.cloudHost.wallStepMs} ms`);
  },
  neighbourLocked(world) {
    world.sql!.neighbour.next = 'locked';
    world.tell('somebody locks the account beside');
  },
  neighbourDeletes(world) {
    world.sql!.neighbour.next = 'endpoint deleted';
    world.tell('the account beside deletes its endpoint');
  },
  intruder(world) {
    world.sql!.intrude();
    world.tell('somebody loads the account under an epoch that nobody granted');
  },
};

export function faultsOf({ sql }: World): Readonly<Record<string, Fault>> {
  return sql === null ? FAULTS : { ...FAULTS, ...SQL_FAULTS };
}

/** All faults stop: everything runs, is reachable, in order and on time. */
export function stopFaults(world: World): void {
  const { cloud, database, machine, network, places, receivers } = world;
  world.tell('faults stop');
  database.faultRate = 0;
  database.isDown = false;
  world.cloudHost.wallStepMs = 0;
  world.countLag = 0;
  receivers.moods.clear();
  for (const place of places) {
    Object.assign(network.link(place.host.name), { slowMs: 0, disorder: 0 });
    network.restore(place.host.name);
    Object.assign(place.disk, { isFull: false, killsAt: null });
    thaw(world, place);
    if (place.edge === null) restartEdge(world, place);
  }
  if (cloud === null) {
    machine.after(world.restartMs, () => {
      if (world.cloud === null) world.startCloud();
    });
  } else if (cloud.process.frozen) {
    network.thawed(cloud.process);
    cloud.process.thaw();
  }
}

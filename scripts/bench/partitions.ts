/** Compares events in partitions by time with events in a single table. Run IDs sort by time, so the stream ID is the
 *  partition key. The product does not use partitions (docs/scale.md). */
import type pg from 'pg';
import { compare, perSecond } from './compare.ts';
import { onDatabase } from './database.ts';
import { row } from './report.ts';

const months = 12;
const runsPerMonth = 10_000;
const eventsPerRun = 3;
const [reads, appends, eventsPerAppend] = [1_000, 50, 30];
const pageSize = 2_000;
const rounds = 5;

const indexes = (name: string) => `ALTER TABLE ${name} ADD PRIMARY KEY (stream_id, version);
  CREATE INDEX ON ${name} (transaction_id, global_position);`;
const copyOfEvents = '(LIKE events INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING STORAGE)';
/** Returns SQL for the stream ID of a run requested `daysAgo` days ago. */
const streamOf = (daysAgo: number) => `'run-' || uuidv7(make_interval(days => -${daysAgo}))`;
const daysOfMonth = 30;
/** Inserts events of the same size as run events into streams of runs requested `ago` days ago. */
const insertInto = (name: string, ago: string, runs: number, events: number) => `
  INSERT INTO ${name} (stream_id, version, event_id, type, schema_version, data, metadata, recorded_at)
  SELECT stream_id, version, uuidv7(), 'RunFinished', 1,
    jsonb_build_object('runId', stream_id, 'text', repeat(md5(stream_id), 12)),
    jsonb_build_object('correlationId', uuidv7()), now()
  FROM (SELECT ${ago} AS stream_id FROM generate_series(1, ${runs})) runs, generate_series(1, ${events}) version`;

export function benchPartitions(): Promise<void> {
  return onDatabase(async (database) => {
    const pool = database.open(2, 'admin');
    await create(pool);
    const pair = (work: (name: string) => Promise<number>) => ({
      rounds,
      ours: () => work('parted'),
      theirs: () => work('whole'),
    });
    await compare({
      figure: `appends/s of ${eventsPerAppend} events, ${months} partitions / one table`,
      bar: '–',
      unit: '/s',
      ...pair((name) =>
        perSecond(appends, async () => {
          for (let done = 0; done < appends; done += 1) {
            await pool.query(insertInto(name, streamOf(0), 1, eventsPerAppend));
          }
        }),
      ),
    });
    const { rows } = await pool.query<{ stream_id: string }>(
      `SELECT stream_id FROM whole WHERE version = 1 ORDER BY md5(stream_id) LIMIT ${reads}`,
    );
    await compare({
      figure: `streams read per second, ${months} partitions / one table`,
      bar: '–',
      unit: '/s',
      ...pair((name) =>
        perSecond(reads, async () => {
          for (const { stream_id: id } of rows) {
            await pool.query({
              name: `stream ${name}`,
              text: `SELECT * FROM ${name} WHERE stream_id = $1 ORDER BY version`,
              values: [id],
            });
          }
        }),
      ),
    });
    await compare({
      figure: `pages of all events per second, ${months} partitions / one table`,
      bar: '–',
      unit: '/s',
      ...pair((name) => perSecond(20, () => readPages(pool, name, 20))),
    });
    await removeOldest(pool);
  });
}

async function create(pool: pg.Pool): Promise<void> {
  await pool.query(`CREATE TABLE whole ${copyOfEvents}; ${indexes('whole')}
    CREATE TABLE parted ${copyOfEvents} PARTITION BY RANGE (stream_id); ${indexes('parted')}`);
  let to = 'MAXVALUE';
  for (let ago = 0; ago < months; ago += 1) {
    const days = ago * daysOfMonth;
    const from = `'${await firstStream(pool, days + daysOfMonth / 2)}'`;
    await pool.query(
      `CREATE TABLE month_${ago} PARTITION OF parted FOR VALUES FROM (${from}) TO (${to})`,
    );
    to = from;
  }
  for (let ago = months - 1; ago >= 0; ago -= 1) {
    await pool.query(insertInto('whole', streamOf(ago * daysOfMonth), runsPerMonth, eventsPerRun));
  }
  await pool.query('INSERT INTO parted OVERRIDING SYSTEM VALUE SELECT * FROM whole');
  await pool.query('ANALYZE whole, parted');
}

/** Returns the lowest stream ID of runs requested within the last `daysAgo` days. */
async function firstStream(pool: pg.Pool, daysAgo: number): Promise<string> {
  // The first 48 bits of the ID contain the time.
  const { rows } = await pool.query<{ id: string }>(`SELECT left(${streamOf(daysAgo)}, 17) AS id`);
  return rows[0]?.id ?? '';
}

async function readPages(pool: pg.Pool, name: string, pages: number): Promise<void> {
  let [transaction, place] = ['0', 0];
  for (let page = 0; page < pages; page += 1) {
    const { rows } = await pool.query<{ transaction_id: string; global_position: number }>(
      `SELECT * FROM ${name} WHERE (transaction_id, global_position) > ($1::xid8, $2)
       ORDER BY transaction_id, global_position LIMIT ${pageSize}`,
      [transaction, place],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    [transaction, place] = [last.transaction_id, last.global_position];
  }
}

/** Removes the oldest month from both layouts. */
async function removeOldest(pool: pg.Pool): Promise<void> {
  const oldest = `month_${months - 1}`;
  const { rows: counts } = await pool.query<{ events: number; bytes: number }>(
    `SELECT count(*) AS events, pg_total_relation_size('${oldest}') AS bytes FROM ${oldest}`,
  );
  const { events = 0, bytes = 0 } = counts[0] ?? {};
  row('bytes of an event with its indexes', (bytes / events).toFixed(0), '–');
  const bound = await firstStream(pool, (months - 1.5) * daysOfMonth);
  const removals = [
    `ALTER TABLE parted DETACH PARTITION ${oldest}; DROP TABLE ${oldest}`,
    `DELETE FROM whole WHERE stream_id < '${bound}'`,
    'VACUUM whole',
  ];
  for (const statement of removals) {
    const ms = 1000 / (await perSecond(1, () => pool.query(statement)));
    row(`removing ${events} events: ${statement.slice(0, 20)}…`, `${ms.toFixed(1)} ms`, '–');
  }
}

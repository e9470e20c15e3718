import test, {type ExecutionContext} from 'ava';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';
import {LIVE, openWith} from './_connection.ts';

type Connection = Awaited<ReturnType<typeof openWith>>;

/** Whether a request on it is answered, and not the connection closed. */
const isAnswered = async (connection: Connection): Promise<boolean> => {
	const count = connection.statuses().length;
	await connection.write(LIVE);
	await connection.until(() => connection.statuses().length > count);
	return connection.statuses()[count] === 200;
};

test('a connection above MAX_CONNECTIONS is closed, the others continue, and one that ends frees its place', async (t) => {
	const lines: string[] = [];
	const service = await startService({MAX_CONNECTIONS: '2', LOG_LEVEL: 'error'}, createFakeClock(), undefined, {
		write: (line) => lines.push(line),
	});
	const [first, second] = [await openWith(service), await openWith(service)];
	const areAnswered = async () => [await isAnswered(first), await isAnswered(second)];
	t.deepEqual(await areAnswered(), [true, true]);
	for (let above = 0; above < 3; above += 1) {
		t.false(await isAnswered(await openWith(service)));
	}

	t.deepEqual(await areAnswered(), [true, true]);
	first.destroy();
	// The service may hear of the end later than of the next beginning.
	while (!(await isAnswered(await openWith(service)))) {
		// It is still full.
	}

	t.true(await isAnswered(second));
	await service.stop();
	t.true(lines.every((line) => line.includes('MAX_CONNECTIONS is reached') && line.includes('"connections":2')));
	const refused = lines.map((line): number => JSON.parse(line).repeated ?? 1);
	t.is(refused.length, 2);
	t.true(Number(refused[1]) >= 2);
});

const usual = serviceOf(test);

/** Waits for the service itself, as its limits are on the machine's time. */
const answerToSlow = async (t: ExecutionContext, bytes: string): Promise<string> => {
	const {end, statuses, text} = await openWith(usual, bytes);
	await end();
	t.deepEqual(statuses(), [408]);
	t.regex(text(), /^connection: close\r$/im);
	return text();
};

test('a body that does not come is 408 in the envelope, and the connection ends', async (t) => {
	const head = 'POST /match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20';
	const answer = await answerToSlow(t, `${head}\r\n\r\n{"platform"`);
	const expected = {statusCode: 408, message: 'Request body took too long', path: '/match'};
	t.like(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), expected);
});

test('a head that does not come is 408, and the connection ends', async (t) => {
	await answerToSlow(t, 'GET /health/live HTTP/1.1\r\nHost: local');
});

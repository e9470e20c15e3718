import {createInterface} from 'node:readline';
import pg from 'pg';

// `node inserter.js URL CONNECTIONS SQL VALUES` inserts single rows by a prepared statement, each committed by itself,
// for as many seconds as each line on stdin says, and answers with a line of JSON. A process like the server's, so that
// what it takes can be compared.
const [, , url, connections, sql, values] = process.argv;
const clients = await Promise.all(
	Array.from({length: Number(connections)}, async () => {
		const client = new pg.Client({connectionString: url});
		await client.connect();
		return client;
	}),
);
const query = {name: 'insert', text: sql, values: JSON.parse(values)};

console.log('ready');
for await (const line of createInterface({input: process.stdin})) {
	const began = performance.now();
	const end = began + Number(line) * 1000;
	let inserted = 0;
	const insert = async (client) => {
		while (performance.now() < end) {
			await client.query(query);
			inserted += 1;
		}
	};
	await Promise.all(clients.map(insert));
	console.log(JSON.stringify({inserted, seconds: (performance.now() - began) / 1000}));
}

await Promise.all(clients.map((client) => client.end()));

// Receives Oplink's webhooks, without a library: SECRET=whsec_… node receiver.mjs
import {createHmac, timingSafeEqual} from 'node:crypto';
import {createServer} from 'node:http';

const {SECRET, PORT = '8080'} = process.env;
const key = Buffer.from(SECRET.replace('whsec_', ''), 'base64');

createServer(async (request, response) => {
	const chunks = [];
	for await (const chunk of request) {
		chunks.push(chunk);
	}

	const body = Buffer.concat(chunks).toString();
	const {'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = ''} = request.headers;
	const own = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`);
	const isSigned = signatures.split(' ').some((one) => {
		const given = Buffer.from(one);
		return given.length === own.length && timingSafeEqual(given, own);
	});
	if (!isSigned || Math.abs(Date.now() / 1000 - Number(time)) > 300) {
		response.writeHead(401).end();
		return;
	}

	// The same delivery may come twice: keep the id, and answer before long work.
	console.log(id, JSON.parse(body));
	response.writeHead(204).end();
}).listen(Number(PORT), () => console.log(`listening on ${PORT}`));

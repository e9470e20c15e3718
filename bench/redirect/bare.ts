import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import Koa from 'koa';

// `node bare.ts http|koa FILE`: answers every request with the headers and the body in FILE.
const [, , kind, file = ''] = process.argv;
const {headers, body} = JSON.parse(readFileSync(file, 'utf8')) as {headers: Record<string, string>; body: string};

const answer = () => {
	const app = new Koa();
	app.use((ctx) => {
		ctx.set(headers);
		ctx.body = body;
	});
	return app.callback();
};

const server =
	kind === 'koa'
		? createServer(answer())
		: createServer((_request, response) => {
				response.writeHead(200, headers);
				response.end(body);
			});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
	const address = server.address();
	console.log(`ready at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});

import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';

// `node bare.js http|koa FILE [PORT]` answers every request with the status, the headers and the body in FILE. Plain
// JavaScript, so that nothing but node is loaded.
const [, , kind, file, port = '0'] = process.argv;
const {headers, body} = JSON.parse(readFileSync(file, 'utf8'));

const listenerOf = {
	http: async () => (_request, response) => {
		response.writeHead(200, headers);
		response.end(body);
	},
	koa: async () => {
		const {default: Koa} = await import('koa');
		const app = new Koa();
		app.use((ctx) => {
			ctx.set(headers);
			ctx.body = body;
		});
		return app.callback();
	},
};

const server = createServer({keepAliveTimeout: 65_000}, await listenerOf[kind]());
server.listen(Number(port), '127.0.0.1', () => {
	console.log(`ready at http://127.0.0.1:${server.address().port}`);
});

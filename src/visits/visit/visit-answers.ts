import Joi from 'joi';
import {linkFieldAnswers, paramsAnswer} from '../../links/links/link-answer.ts';
import {answerOf, errorAnswer, type MediaAnswer, partOf, text, uuid} from '../../platform/http/answer.ts';

/** The part of a link that its app receives, as `appDataOf`. */
export const appDataAnswers = {
	linkId: uuid,
	path: text,
	params: paramsAnswer,
	minimumVersion: linkFieldAnswers.minimumVersion,
};

export const linkDataAnswer = answerOf('LinkData', appDataAnswers);

export const pageAnswer: MediaAnswer = {
	media: ['text/html'],
	about: 'The page that leads into the app; for link previews a static one, without script and not to be indexed.',
};

export const startPageAnswer: MediaAnswer = {
	media: ['text/html'],
	about:
		'On the API host, for clients that prefer text/html: the name and the version of the service, and a link to `/docs`.',
};

/** On a custom domain `/:shortCode/data` has this form too (contract/hosts 4). */
export const pageOrDataAnswer: MediaAnswer = {
	...pageAnswer,
	about: `${pageAnswer.about} On a custom domain the path may be a short code and the word data: then the link’s data.`,
	json: linkDataAnswer,
};

const absent = (about: string): MediaAnswer => ({
	media: ['text/html'],
	about: `${about} A page for clients that prefer text/html, where the app configuration has \`errorPages\`.`,
	json: errorAnswer,
});

/** The refusals that may be a page (contract/resolution 25). */
export const absentAnswers = {404: absent('There is no such link.'), 410: absent('The link is gone.')};

const pathRules = Joi.array().items(partOf({'/': text, exclude: Joi.valid(true).optional()}));

export const appleFileAnswer = answerOf('AppleAppSiteAssociation', {
	applinks: partOf({
		details: Joi.array().items(partOf({appIDs: Joi.array().items(text), components: pathRules})),
	}),
	appclips: partOf({apps: Joi.array().items(text)}).optional(),
});

export const androidFileAnswer = Joi.array().items(
	answerOf('AssetLink', {
		relation: Joi.array().items(text),
		target: partOf({namespace: text, package_name: text, sha256_cert_fingerprints: Joi.array().items(text)}),
		relation_extensions: partOf({
			'delegate_permission/common.handle_all_urls': partOf({dynamic_app_link_components: pathRules}),
		}).optional(),
	}),
);

/** Signals that only script can read; missing and invalid ones are ignored (contract/resolution 8). */
export const signalsBody = Joi.object({
	token: Joi.string().max(100).description('The page’s match token.'),
	timezone: Joi.string().max(100).description('IANA time zone; an unknown one is ignored.'),
	languages: Joi.array().items(Joi.string().max(100)),
	screen: Joi.any(),
	pixelRatio: Joi.any(),
	touchPoints: Joi.number(),
	model: Joi.string().max(100),
	platformVersion: Joi.string().max(100),
}).unknown(true);

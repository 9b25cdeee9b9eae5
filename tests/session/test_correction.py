"""Which prompts correct the agent, in English, German, Spanish and French."""

from __future__ import annotations

import pytest

from onrecord.session import correction
from onrecord.session.correction import FAULT, NONE, REPROACH


@pytest.mark.parametrize(
    ("prompt", "level"),
    [
        ("I told you to use pnpm here", REPROACH),
        ("Again, no default exports please", REPROACH),
        ("you used npm again", REPROACH),
        ("As I said: errors are wrapped", REPROACH),
        ("how many times do I have to say it? no force pushes", REPROACH),
        ("Ich hab doch gesagt, keine Default-Exporte", REPROACH),
        ("Schon wieder npm! Nimm bitte pnpm", REPROACH),
        ("Du hast das Changelog vergessen", REPROACH),
        ("Te dije que usaras pnpm", REPROACH),
        ("¿Cuántas veces? Nada de npm", REPROACH),
        ("Olvidaste el changelog", REPROACH),
        ("No, use pnpm", FAULT),
        ("no - tests belong next to the code", FAULT),
        ("not moment but date-fns", FAULT),
        ("Use pnpm, not npm", FAULT),
        ("why did you install it with npm?", FAULT),
        ("Why'd you add a second lockfile? Odd.", FAULT),
        ("That's not how we name branches.", FAULT),
        ("You skipped the tests in web/", FAULT),
        ("The branch looks good. You should have run the linter, though.", FAULT),
        ("Nein, wir nehmen pnpm", FAULT),
        ("Warum hast du npm benutzt?", FAULT),
        ("nicht npm, sondern pnpm", FAULT),
        ("Das ist falsch, es heißt feat/NAME", FAULT),
        ("No, usa pnpm", FAULT),
        ("¿Por qué has usado npm?", FAULT),
        ("no npm sino pnpm", FAULT),
        ("Eso no es lo que pedí", FAULT),
        ("Non, on n'importe pas de composant interne, je te l’ai déjà dit", REPROACH),
        ("Tu as oublié le changelog", REPROACH),
        ("On avait dit que les montants sont des Montant", REPROACH),
        ("Non, il ne faut pas modifier ce fichier à la main, il est généré !", FAULT),
        ("Pourquoi as-tu utilisé npm ?", FAULT),
        ("Ce n'est pas ce que j'ai demandé", FAULT),
        ("pas comme ça", FAULT),
    ],
)
def test_prompts_that_correct(prompt, level):
    assert correction.strength(prompt) == level


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "   \n",
        "add a test for the login",
        "run the tests again",
        "check again, I just restarted it",
        "No, thanks",
        "no, that's fine",
        "No code changes yet, just research.",
        "not sure, what do you think?",
        "what is wrong with this test?",
        "Is it wrong to use a list here?",
        "why does the build fail?",
        "don't worry about the warnings",
        "Update the docs if you did not do it already",
        "you should be able to see the log now",
        "remember why we chose Postgres?",
        "the login does not work",
        "Bitte die Tests noch einmal laufen lassen",
        "nein, danke",
        "Füge einen Test für den Login hinzu",
        "agrega una prueba para el login",
        "no, gracias",
        "Non merci",
        "non, c'est bon, continue",
        "Pourquoi on n'utilise pas NumberField avec une unité ?",
        "on avait dit quoi pour les traductions ?",
        "combien de fois la fonction est-elle appelée ?",
        "Ajoute un champ. Il ne faut pas modifier les autres.",
        "tu n'as pas besoin de lancer les tests",
        "```\nno, I told you\n```",
        "> why did you do that?",
        "    assert i said no",
    ],
)
def test_other_prompts_do_not(prompt):
    assert correction.strength(prompt) == NONE


def test_of_a_long_prompt_the_beginning_and_the_end_are_read():
    filler = "This is a line of the document.\n" * 400

    assert correction.strength(f"I told you to use pnpm.\n{filler}") == REPROACH
    assert correction.strength(f"Here is a text.\n{filler}I told you to use pnpm.") == REPROACH
    assert correction.strength(f"Here is a text.\n{filler}I told you to use pnpm.\n{filler}") == NONE


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("no, use pnpm", False),
        ("no, the password is hunter2", True),
        ("nein, das Passwort lautet Sommer24", True),
        ("no, la contraseña es verano24", True),
        ("no, the key is aB3dE6gH9jK2mN5pQ8sT1vW4xY7z", True),
        ("no, not that Token: abc", True),
    ],
)
def test_what_may_be_a_secret_is_not_copied(text, may):
    assert correction.may_have_secret(text) is may


@pytest.mark.parametrize(
    ("text", "is_secret"),
    [
        ("no, use argon2id for the password hashes, because bcrypt cuts after 72 bytes", False),
        ("don't log the token of a session", False),
        ("no, the password is correcthorse", True),
        ("I told you: password=tr0ub4dor", True),
        ("again, log in with password hunter2", True),
        ("nein, das Passwort lautet geheim", True),
        ("use the key abcdefghijklmnopqrstuvwxyz", True),
    ],
)
def test_a_value_behind_a_word_such_as_password_may_be_a_secret(text: str, is_secret: bool) -> None:
    assert correction.may_have_secret(text) is is_secret

"""Words that carry no topic, for the languages our users type. Every list is tried; the best-fitting one applies."""

from __future__ import annotations

ENGLISH = frozenset({
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "anyone", "anything", "are", "aren",
    "around", "as", "at", "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "cannot",
    "could", "couldn", "did", "didn", "do", "does", "doesn", "doing", "don", "done", "down", "during", "each", "either",
    "else", "etc", "even", "ever", "every", "few", "for", "from", "further", "get", "gets", "getting", "give", "go",
    "going", "gonna", "got", "had", "has", "hasn", "have", "haven", "having", "he", "hello", "help", "her", "here",
    "hey", "hi", "him", "his", "how", "however", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just",
    "know", "let", "lets", "like", "ll", "look", "make", "makes", "many", "may", "maybe", "me", "might", "more", "most",
    "much", "must", "my", "myself", "need", "needs", "no", "nor", "not", "nothing", "now", "of", "off", "ok", "okay",
    "on", "once", "one", "only", "or", "other", "others", "our", "ours", "out", "over", "own", "per", "please", "put",
    "quite", "rather", "re", "really", "same", "say", "says", "see", "seem", "seems", "shall", "she", "should",
    "shouldn", "since", "so", "some", "something", "somehow", "still", "such", "take", "tell", "than", "thank",
    "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "thing", "things", "think", "this",
    "those", "though", "through", "to", "too", "try", "trying", "under", "until", "up", "us", "use", "used", "uses",
    "using", "ve", "very", "via", "want", "wants", "was", "wasn", "way", "we", "well", "were", "weren", "what", "when",
    "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "won",
    "would", "wouldn", "yeah", "yes", "yet", "you", "your", "yours",
})  # fmt: skip

# Kept as text and split when needed: most prompts are English and never look here.
_OTHERS = (
    "aber alle als also am an auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des die dies"
    " diese dieser doch du durch ein eine einem einen einer er es fur gibt hab habe haben hat hier ich ihr im in"
    " ist ja jetzt kann kein keine konnen man mal mehr mein mich mir mit muss nach nicht noch nun nur ob oder ohne"
    " schon sein sich sie sind so soll sollen uber um und uns unser unsere vom von vor war warum was weil welche"
    " wenn wer werden wie wir wird wo zu zum zur",
    "a au aux avec ca ce ces cet cette comme comment dans de des dois donc du elle elles en est et etait etre"
    " faire fait faut il ils j je l la le les leur lui ma mais me mes moi mon ne nos notre nous on ou par pas peut"
    " peux plus pour pourquoi quand que quel quelle qui quoi sa sans se ses si sont sur ta tes toi ton tous tout"
    " toute tres tu un une vos votre vous y",
    "al algo antes aqui asi como con cual cuando de del desde donde el ella ellos en entre era es esa ese eso"
    " esta este esto estos fue ha hace hacer han hay la las le les lo los mas me mi mis mucho muy nada ni no nos o"
    " para pero por porque puede puedo que quien se ser si sin sobre son su sus tambien te tengo tiene todo tu un"
    " una uno unos y ya yo",
    "a agora ao aos aqui as assim ate com como da das de dela dele deles depois do dos e ela ele eles em entao"
    " era essa esse esta este eu foi isso isto ja la mais mas me mesmo meu minha muito na nao nas nem no nos nossa"
    " nosso num numa o os ou para pela pelo por porque pra qual quando que quem quero se sem ser seu so sua tambem"
    " tem ter todo tudo um uma voce",
    "a ad ai al alla anche c che chi ci come con cosa da dal dalla degli dei del della delle di dopo dove e ecco"
    " era fa gli ha hai ho i il in io la le lei lo loro lui ma me mi mia mio ne nei nel nella noi non nostra"
    " nostro o per perche piu poi puo qual quando questa questo qui se sei senza si sia sono su sul sulla tra tu"
    " tutto un una uno vi voi",
    "aan al als bij dan dat de deze die dit doen door dus een eens en er geen had heb heeft hem het hier hij hoe"
    " hun ik in is ja je kan kunnen maar me meer met mij mijn moet na naar niet nog nu of om omdat ons ook op over"
    " te tegen toch tot u uit van veel voor waar waarom wat we wel wie wij wil worden zal ze zei zich zij zijn zo"
    " zonder zou",
)


_RUSSIAN = frozenset((
    "а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее её если есть еще ещё же за и из"
    " или им их к как какой когда кто ли мне мы на над надо нам нас не него нет но ну о об он она они от по под при с"
    " сейчас со так там то тоже только тот ты у уже что чтобы чем эта эти это этот я"
).split())  # fmt: skip


def of(words: list[str]) -> frozenset[str]:
    """The stop words to apply to a text, given its lower-case words: English, and the language it is written in."""
    distinct = set(words)
    english = len(distinct & ENGLISH)
    best, most = ENGLISH, max(1, english)
    for text in _OTHERS:
        listed = frozenset(text.split())
        hits = len(distinct & listed)
        if hits > most:
            best, most = ENGLISH | listed, hits
    return best if all(map(str.isascii, distinct)) else best | _RUSSIAN

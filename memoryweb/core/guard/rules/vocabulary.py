"""English words by the part they play in an attack; `_` is whatever separates two words, and `+`
adds the plural."""

CLASSES = {
    # Setting instructions aside.
    "ignore": """
        ignore ignoring disregard disregarding forget forgetting unlearn neglect override
        overrule bypass circumvent discard abandon dismiss nullify revoke pay_no_attention_to
        not_follow don't_follow never_follow not_obey don't_obey stop_following stop_obeying
        no_longer_follow set_aside throw_away throw_out let_go_of not_adhere_to don't_listen_to
        not_listen_to
    """,
    "forget": "ignore disregard forget erase unlearn abandon dismiss stop_following set_aside",
    "bypass": "ignore disregard forget override overrule bypass circumvent abandon dismiss nullify",
    "drop": """
        drop delete erase clear reset wipe skip remove void suspend cancel overwrite replace
        rewrite disable turn_off switch_off lift deactivate
    """,
    "earlier": """
        previous prior+ earlier preceding above foregoing former original initial past
        preexisting
    """,
    "all": "all any every your my",
    "orders": "instruction+ directive+ guideline+ prompt+ orders guidance directions",
    "matter": """
        rule+ constraint+ restriction+ command+ policy policies context conversation+ training
        programming safeguard+ protocol+ limitations everything dialogue persona tasks
    """,
    "document": """
        webpage web_page website page resume cv function code table article contents content
        document passage caption email transaction description attachment paragraph
    """,
    "words": "message+ text+ input+ statement+ information task+ assignment+ request+ data",
    "bonds": """
        rules restrictions constraints limitations commands training programming safeguards
        thoughts behavior behaviour identity
    """,
    "so_far": """
        above beforehand previously so_far until_now up_to_now told instructed learned learnt
        know discussed talked_about said_before i_said before_this before_that said_earlier
    """,
    "say": """
        say print output tell write respond reply repeat give translate do just instead only act
        answer reveal return execute run state show send start begin pretend list
    """,
    "void": """
        no_longer_apply no_longer_applies no_longer_valid no_longer_in_effect cancelled canceled
        void revoked suspended lifted nullified rescinded superseded overridden annulled ignored
        disregarded forgotten
    """,
    "safeguard": """
        policy policies guideline+ rule+ filter+ protocol+ restriction+ guardrail+ safeguard+
        measures constraint+ controls mechanisms programming limitations wrapper+
    """,
    "guardrail": """
        policy policies guideline+ rules filter+ protocols restrictions guardrail+ safeguard+
        programming alignment+
    """,
    "overrules": """
        override+ supersede+ replace+ take_precedence_over takes_precedence_over
        have_priority_over has_priority_over
    """,
    "standing": """
        system permanent core standing administrator admin developer root operator binding
        top-priority high-priority highest-priority overriding immutable mandatory
    """,
    "keep": """
        remember store save treat keep record accept consider regard adopt memorize persist
        retain
    """,
    "sessions": "session+ conversation+ chat+ interaction+",
    "onward": """
        from_now_on from_this_point_on from_this_point_forward from_here_on henceforth
        going_forward starting_now
    """,
    "addressee": "you assistant agent+ model ai bot chatbot",
    # Becoming somebody else.
    "authority": """
        admin administrator root superuser system_administrator sysadmin superadmin system_admin
    """,
    "unbound": """
        unrestricted unfiltered uncensored jailbroken unbound amoral unethical evil dan
        limitless lawless rogue unmoderated unaligned malicious hacker
    """,
    "limits": """
        restrictions limitations limits rules guidelines filters filtering censorship boundaries
        ethics safeguards morals refusals ethical_guidelines moral_guidelines content_policy
        content_policies safety_guidelines safety_rules safety_constraints confines shackles
        ethical_constraints restraints ethical_considerations moral_considerations
    """,
    "freed": "freed liberated unchained unshackled released",
    "machine": """
        ai assistant bot chatbot model language_model llm agent persona character intelligence
        terminal interpreter simulator endpoint
    """,
    "mode": """
        god dan jailbreak unrestricted unfiltered uncensored evil dude stan chaos developer
        admin root sudo system override
    """,
    # Keeping it from the person.
    "not": """
        do_not don't never must_not mustn't should_not shouldn't shall_not may_not cannot avoid
        refrain_from
    """,
    "tell": "tell inform telling informing",
    "disclose": "mention reveal disclose admit acknowledge",
    "person": "user+ human+ operator+ owner customer+ administrator+",
    # Getting at secrets.
    "send": """
        send post upload email e-mail mail forward transmit leak exfiltrate share submit deliver
        publish dump relay attach push copy exfil smuggle
    """,
    "secret": """
        api_key+ apikey+ api_token+ access_token+ access_key+ secret_key+ session_token+
        session_cookie+ auth_token+ bearer_token private_key+ ssh_key+ credential+ password+
        passphrase secret+ token+ environment_variables env_vars seed_phrase recovery_phrase
        cookies id_rsa conversation_history chat_history system_prompt
    """,
    "secrets": """
        api_tokens access_tokens secret_keys auth_tokens private_keys ssh_keys credentials
        passwords secrets session_token+ api_key+ environment_variables
    """,
    "password": """
        password passphrase secret_key secret_code api_key credentials access_code
        master_password login_password secret
    """,
    "reveal": "reveal dump leak recite disclose unveil exfiltrate expose divulge",
    "leak": """
        reveal print output repeat show display leak dump recite share quote write paste copy
        translate summarize summarise encode echo tell expose disclose give return list describe
        unveil spell state provide type reproduce verify what_is what_are what's explain review
        extract
    """,
    "hidden_text": """
        system_prompt+ system_message system_instruction+ initial_prompt initial_instruction+
        hidden_instructions hidden_rules hidden_prompt developer_instructions developer_message+
        original_instructions original_prompt secret_instructions internal_instructions
        internal_guidelines internal_rules
        system_guidelines preprompt base_prompt core_instructions
        core_directives
    """,
    "own_text": """
        instructions prompt directives guidelines system_prompt system_message
        hidden_rules
    """,
    "personal": """
        password+ credit_card card_number cvv social_security ssn seed_phrase recovery_phrase
        bank_details one-time_code 2fa_code mfa_code pin_code login_details
    """,
    "code": """
        pig_latin base64 rot13 morse morse_code reverse reversed_order leetspeak hexadecimal binary
        caesar backwards
    """,
    "personal_fact": """
        initials birth_date birthdate date_of_birth birthday birth_year home_address email_address
        city residence phone_number bank_balance favorite_color favourite_colour passport_number
        address
    """,
    "balance": """
        bank_balance account_balance social_security_number home_address credit_card_number
    """,
    "append": "append encode embed smuggle hide add include attach insert",
    # Making the agent act.
    "approval": """
        approval+ confirmation+ verification authorization permission+ consent review
        safety_checks security_checks
    """,
    "act": """
        approve authorize execute run transfer send accept grant perform sign delete deploy
        install wire pay purchase buy release export comply proceed
    """,
    "privileged": """
        admin administrator root superuser verified trusted vip privileged authorized authorised
        pre-approved preapproved pre-authorized exempt owner developer
    """,
    "license": """
        bypass skip grant granted allow comply no_need unrestricted exempt override unlimited
        everything
    """,
    "permitted": """
        authorized authorised approved permitted consented cleared granted directed instructed
        allowed
    """,
    "advance": """
        pre-approved preapproved pre-authorized preauthorized auto-approved
        automatically_approved
    """,
    "waived": """
        disabled off turned_off waived suspended deactivated lifted not_required unnecessary
        not_needed relaxed
    """,
    "here": "user account session environment conversation workspace agent chat instance",
    "wares": """
        vendor brand supplier product+ seller fund etf broker bank exchange insurer casino stock
        coin purchase+ company
    """,
    "push": "recommend promote endorse advertise favor favour steer",
}

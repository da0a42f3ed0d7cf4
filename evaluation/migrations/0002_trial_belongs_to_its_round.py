from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial")]

    operations = [
        # Composite foreign keys, which the ORM cannot declare: no trial without its round and its entry.
        migrations.RunSQL(
            """
            ALTER TABLE evaluation_trial
                ADD CONSTRAINT trial_of_a_drawn_round FOREIGN KEY (evaluation_id, round_number)
                    REFERENCES evaluation_round (evaluation_id, number) DEFERRABLE INITIALLY DEFERRED,
                ADD CONSTRAINT trial_of_an_entry FOREIGN KEY (evaluation_id, configuration_id)
                    REFERENCES evaluation_entry (evaluation_id, configuration_id) DEFERRABLE INITIALLY DEFERRED;
            """,
            """
            ALTER TABLE evaluation_trial DROP CONSTRAINT trial_of_a_drawn_round, DROP CONSTRAINT trial_of_an_entry;
            """,
        )
    ]
